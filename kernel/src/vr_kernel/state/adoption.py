"""Adoption of a file of an earlier version: its tables become rows, once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vr_kernel.errors import VrError
from vr_kernel.state.rows import ROW_CHANGED, Put, Rows

if TYPE_CHECKING:
    from vr_kernel.protocols.work import Leases

ADOPTED = ".adopted"
"""Ending of the name of a file whose rows were taken over."""


class Adopted(NamedTuple):
    """A row to be, and where it belongs within the namespace."""

    put: Put
    workspace: str = ""
    principal: str = ""


Adopt = Callable[[Mapping[str, Any]], Iterable[Adopted]]
"""Turns a row of a former table, as a mapping of its columns, into rows to be."""


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
    async with leases.held(f"adopt/{file.name}"):
        if not file.exists():  # noqa: ASYNC240
            return
        from vr_kernel.state.sqlite.former_file import FormerFile

        former = FormerFile(file, tell)
        try:
            for table, adopt in tables.items():
                async for page in former.pages(table):
                    await _keep(rows, [it for row in page for it in adopt(row)])
        finally:
            await former.aclose()
        former.retire(ADOPTED)


async def _keep(rows: Rows, batch: Iterable[Adopted]) -> None:
    places: dict[tuple[str, str], list[Put]] = {}
    for put, workspace, principal in batch:
        places.setdefault((workspace, principal), []).append(replace(put, expected=0))
    for place, puts in places.items():
        there = rows.within(*place)
        if not await _written(there, *puts):
            for put in puts:  # some were taken over before
                await _written(there, put)


async def _written(rows: Rows, *puts: Put) -> bool:
    try:
        await rows.write(*puts)
    except VrError as error:
        if error.category != ROW_CHANGED:
            raise
        return False
    return True
