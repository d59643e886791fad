"""State in SQLite files of one machine: each part is imported and opened at first use."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from vr_kernel.config.paths import Paths
    from vr_kernel.errors import VrError
    from vr_kernel.state.call_end import CallEnd, Finished
    from vr_kernel.state.signals import LocalSignals
    from vr_kernel.state.sqlite.cache import SqliteCache
    from vr_kernel.state.sqlite.jobs import SqliteJobs
    from vr_kernel.state.sqlite.journal.journal import SqliteJournal
    from vr_kernel.state.sqlite.leases import SqliteLeases
    from vr_kernel.state.sqlite.limits import SqliteLimits
    from vr_kernel.state.sqlite.rows import SqliteRows
    from vr_kernel.state.sqlite.steps import SqliteSteps
    from vr_kernel.state.sqlite.usage import SqliteUsage
    from vr_kernel.state.sqlite.vectors import SqliteVectors
    from vr_kernel.storage.kept_database import KeptDatabase
    from vr_kernel.storage.patience import Patience

LEDGER = "jobs.db"
"""The file of leases, jobs and steps."""


class _Part(Protocol):
    @property
    def holding(self) -> bool: ...

    def close(self) -> None: ...


class SqliteState:
    """The files of one installation; see `State`.

    Args:
        paths: its folders.
        lease_s: seconds until a silent owner counts as dead.
        owner: the principal of what has no token's name.
        store: names the configured store, which may have what the journal lacks.
        tell: called once for each damage found in a file.
        patience: with locks, shared by all files.
        clock: seconds since the epoch.
        steady: a monotonic clock, in seconds; that of the machine when left out.
    """

    def __init__(
        self,
        paths: Paths,
        *,
        lease_s: float,
        owner: str = "",
        store: Callable[[], str] = lambda: "embedded",
        tell: Callable[[VrError], None] = lambda _error: None,
        patience: Patience | None = None,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] | None = None,
    ) -> None:
        self._paths = paths
        self._lease_s = lease_s
        self._owner = owner
        self._store = store
        self._tell = tell
        self._patience = patience
        self._clock = clock
        self._caches: dict[str, SqliteCache] = {}
        self._steady = steady

    @cached_property
    def ledger(self) -> KeptDatabase:
        """The file of jobs, leases, steps and positions of the journal."""
        from vr_kernel.state.sqlite.ledger import open_ledger

        return open_ledger(self._paths.state / LEDGER, self._tell, self._patience)

    @cached_property
    def journal(self) -> SqliteJournal:
        """Every record in order."""
        from vr_kernel.state.sqlite.journal.journal import SqliteJournal

        ledger = lambda: self.ledger  # noqa: E731 - not opened before the journal is
        return SqliteJournal(self._paths.journal, self._tell, ledger, self._store)

    @cached_property
    def leases(self) -> SqliteLeases:
        """The owners of names."""
        from vr_kernel.state.leases import steady_clock
        from vr_kernel.state.sqlite.leases import SqliteLeases

        steady = self._steady or steady_clock
        return SqliteLeases(self.ledger, lease_s=self._lease_s, clock=self._clock, steady=steady)

    @cached_property
    def jobs(self) -> SqliteJobs:
        """Long calls."""
        from vr_kernel.state.sqlite.jobs import SqliteJobs

        return SqliteJobs(self.ledger, self.leases, self._owner)

    @cached_property
    def steps(self) -> SqliteSteps:
        """Replies that were paid for."""
        from vr_kernel.state.sqlite.steps import SqliteSteps

        return SqliteSteps(self.ledger)

    @cached_property
    def limits(self) -> SqliteLimits:
        """Amounts that all may use together."""
        from vr_kernel.state.sqlite.limits import SqliteLimits

        return SqliteLimits(self.ledger)

    @cached_property
    def signals(self) -> LocalSignals:
        """Hints that something has changed; other processes are not reached."""
        from vr_kernel.state.signals import LocalSignals

        return LocalSignals()

    @cached_property
    def rows(self) -> SqliteRows:
        """Rows of registries and plugins."""
        from vr_kernel.state.sqlite.rows import SqliteRows

        return SqliteRows(self._paths.rows, self._tell, self._patience)

    @cached_property
    def usage(self) -> SqliteUsage:
        """Requests to language models and their cost."""
        from vr_kernel.state.sqlite.usage import SqliteUsage

        file = self._paths.state / "usage.db"
        return SqliteUsage(file, self._owner, self._tell, self._patience, self._clock)

    @cached_property
    def vectors(self) -> SqliteVectors:
        """Vectors of items, each computed once."""
        from vr_kernel.state.sqlite.vectors import SqliteVectors

        return SqliteVectors(self._paths.state / "vectors.db", self._tell, self._patience)

    def cache(self, workspace: str = "") -> SqliteCache:
        """Results of a workspace; the owner's when it is not named."""
        from vr_kernel.state.sqlite.cache import SqliteCache

        if workspace not in self._caches:
            paths = self._paths.of_workspace(workspace) if workspace else self._paths
            file = paths.cache / "results.db"
            ledger = self._paths.state / LEDGER
            self._caches[workspace] = SqliteCache(file, self._tell, self._patience, ledger)
        return self._caches[workspace]

    @property
    def is_holding(self) -> bool:
        """True while something that was paid for waits in memory to be written."""
        return any(part.holding for part in self._opened())

    async def finish(self, end: CallEnd) -> Finished:
        """Write everything that the end of a call writes, file by file."""
        from vr_kernel.state.finishing import finish_in_order

        return await finish_in_order(self, end)

    def close(self) -> None:
        """Close every file that was opened; a later use opens it again."""
        for part in self._opened():
            part.close()

    def _opened(self) -> Iterator[_Part]:
        for name in ("journal", "rows", "usage", "vectors", "ledger"):
            if name in self.__dict__:
                yield getattr(self, name)
        yield from self._caches.values()
