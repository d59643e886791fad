"""The state of a kernel: everything that it keeps, in parts that hang together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from vr_kernel.state.cache import CacheTable
    from vr_kernel.state.call_end import CallEnd, Finished
    from vr_kernel.state.jobs import JobTable
    from vr_kernel.state.journal import JournalTable
    from vr_kernel.state.leases import LeaseTable
    from vr_kernel.state.limits import LimitTable
    from vr_kernel.state.rows import RowSpace
    from vr_kernel.state.signals import Signals
    from vr_kernel.state.steps import StepTable
    from vr_kernel.state.usage import UsageTable
    from vr_kernel.state.vectors import VectorTable


class State(Protocol):
    """Everything that the kernels of one installation keep and share.

    Each part is opened at its first use.
    """

    @property
    def journal(self) -> JournalTable:
        """Every record in order."""

    @property
    def leases(self) -> LeaseTable:
        """The owners of names."""

    @property
    def jobs(self) -> JobTable:
        """Long calls."""

    @property
    def steps(self) -> StepTable:
        """Replies that were paid for."""

    @property
    def limits(self) -> LimitTable:
        """Amounts that all may use together."""

    @property
    def signals(self) -> Signals:
        """Hints that something has changed."""

    @property
    def rows(self) -> RowSpace:
        """Rows of registries and plugins."""

    @property
    def usage(self) -> UsageTable:
        """Requests to language models and their cost."""

    @property
    def vectors(self) -> VectorTable:
        """Vectors of items, each computed once."""

    def cache(self, workspace: str = "") -> CacheTable:
        """Results of a workspace; the owner's when it is not named."""

    @property
    def is_holding(self) -> bool:
        """True while something that was paid for waits in memory to be written."""

    async def finish(self, end: CallEnd) -> Finished:
        """Write everything that the end of a call writes.

        In one transaction where the parts of this state share one, else in an order in which a
        crash does no harm, see `finish_in_order`.

        Raises:
            VrError: UNAVAILABLE when the entries are essential and cannot be written, or the end
                of the job cannot.
        """

    def close(self) -> None:
        """Close what was opened; a later use opens it again."""
