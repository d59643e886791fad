"""A SQLite file that keeps one table of the state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from vr_kernel.errors import VrError
from vr_kernel.storage.kept_database import KeptDatabase
from vr_kernel.storage.patience import Patience


class TableFile:
    """A file of its own for one table of the state; a damaged one is set aside.

    Args:
        path: of the file.
        tell: called once for each damage found in it.
        patience: with locks, shared with the other files of the program.
    """

    schema: ClassVar[str]
    options: ClassVar[dict[str, Any]] = {}
    """More arguments of `KeptDatabase`."""

    def __init__(
        self,
        path: Path,
        tell: Callable[[VrError], None] = lambda _error: None,
        patience: Patience | None = None,
    ) -> None:
        self.path = path
        how = {"disposable": True, "tell": tell, "patience": patience, **self.options}
        self.database = KeptDatabase(path, self.schema, **how)

    @property
    def holding(self) -> bool:
        """True while something waits in memory to be written."""
        return self.database.holding

    def close(self) -> None:
        """Close the file; a later use opens it again."""
        self.database.close()
