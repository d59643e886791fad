"""Adoption of a file of an earlier version: its tables become rows, once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vr_kernel.errors import Code, VrError
from vr_kernel.state.rows import ROW_CHANGED, Put, Rows

if TYPE_CHECKING:
    from vr_kernel.protocols.work import Leases
    from vr_kernel.state.sqlite.former_file import FormerFile

ADOPTED = ".adopted"
"""Ending of the name of a file whose rows were taken over."""


class Adopted(NamedTuple):
    """A row to be, and where it belongs within the namespace."""

    put: Put
    workspace: str = ""
    principal: str = ""


Adopt = Callable[[Mapping[str, Any]], Iterable[Adopted]]
"""Turns a row of a former table, as a mapping of its columns, into rows to be.

A row for which it raises ValueError, TypeError or KeyError is damaged.
"""


async def adopt_file(
    file: Path,
    rows: Rows,
    leases: Leases,
    tables: Mapping[str, Adopt],
    tell: Callable[[VrError], None] = lambda _error: None,
) -> None:
    """Take over the tables of a SQLite file that an earlier version kept, as rows.

    A row that exists already stays. The file is renamed at the end, so nothing happens when it is
    gone; when the process dies on the way, the next one goes on. What is damaged is left out.

    Args:
        file: the former file; nothing happens when there is none.
        rows: of the namespace that takes them over.
        leases: keep two processes from doing so at once.
        tables: by name, what becomes of their rows; the order counts.
        tell: called once for each damage found in the file.

    Raises:
        VrError: UNAVAILABLE when the file cannot be read, or the rows cannot be written.
    """
    if not file.exists():  # noqa: ASYNC240 - one look at a local file
        return
    without = lambda error: not error.retryable  # noqa: E731 - no ledger, so no neighbour uses one
    async with leases.held(f"adopt/{file.name}", without=without):
        if not file.exists():  # noqa: ASYNC240
            return
        from vr_kernel.state.sqlite.former_file import FormerFile

        former = FormerFile(file, tell)
        try:
            for table, adopt in tables.items():
                async for page in former.pages(table):
                    batch = [it for row in page for it in _adopted(former, table, adopt, row)]
                    await _keep(rows, batch, tell)
        finally:
            await former.aclose()
        former.retire(ADOPTED)


def _adopted(
    former: FormerFile, table: str, adopt: Adopt, row: dict[str, Any]
) -> Iterable[Adopted]:
    try:
        return [*adopt(row)]
    except (ValueError, TypeError, KeyError):
        former.leave_out(table, row)
        return []


async def _keep(rows: Rows, batch: Iterable[Adopted], tell: Callable[[VrError], None]) -> None:
    places: dict[tuple[str, str], list[Put]] = {}
    for put, workspace, principal in batch:
        places.setdefault((workspace, principal), []).append(replace(put, expected=0))
    for place, puts in places.items():
        if not await _refused(rows, place, *puts):
            continue
        for put in await _missing(rows, place, puts):
            error = await _refused(rows, place, put)
            if error and error.category != ROW_CHANGED:
                tell(error)


async def _missing(rows: Rows, place: tuple[str, str], puts: list[Put]) -> list[Put]:
    """Return the rows that were not taken over before; all, when some cannot be kept."""
    try:
        there = rows.within(*place)
        found = await asyncio.gather(*(there.get(put.key) for put in puts))
    except VrError:
        return puts
    return [put for put, row in zip(puts, found, strict=True) if row is None]


async def _refused(rows: Rows, place: tuple[str, str], *puts: Put) -> VrError | None:
    try:
        await rows.within(*place).write(*puts)
    except VrError as error:
        if error.code not in (Code.CONFLICT, Code.INVALID_INPUT, Code.TOO_LARGE):
            raise
        return error
    return None
