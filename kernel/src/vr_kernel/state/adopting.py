"""Rows with a former life: a file of an earlier version, taken over at first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from vr_kernel.errors import VrError

if TYPE_CHECKING:
    from vr_kernel.protocols.work import Leases
    from vr_kernel.state.adoption import Adopt
    from vr_kernel.state.rows import Rows


class AdoptingRows:
    """Rows that take over the file of an earlier version before their first use.

    While that fails, the rows are used without what the file holds, and the next use tries again.

    Args:
        file: the former file; there may be none.
        rows: opens the rows.
        leases: keep two processes from taking over at once.
        tables: returns by name what becomes of the rows of a table; called when there is a file.
        tell: called for each damage found in the file, and once when it cannot be taken over.
    """

    def __init__(
        self,
        file: Path,
        rows: Callable[[], Rows],
        leases: Leases,
        tables: Callable[[], Mapping[str, Adopt]],
        tell: Callable[[VrError], None] = lambda _error: None,
    ) -> None:
        self._file = file
        self._open = rows
        self._leases = leases
        self._tables = tables
        self._tell = tell
        self._done = self._failed = False

    async def opened(self) -> Rows:
        """Return the rows."""
        rows = self._open()
        if not self._done:
            try:
                if self._file.exists():
                    from vr_kernel.state.adoption import adopt_file

                    await adopt_file(self._file, rows, self._leases, self._tables(), self._tell)
                self._done = True
            except VrError as error:
                if not self._failed:
                    self._tell(error)
                self._failed = True
        return rows
