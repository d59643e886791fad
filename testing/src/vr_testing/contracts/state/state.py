"""The contract of a whole state: the tests of all its parts."""

from __future__ import annotations

from vr_testing.contracts.state.cache import CacheContract
from vr_testing.contracts.state.call_end import CallEndContract
from vr_testing.contracts.state.journal import JournalContract
from vr_testing.contracts.state.ledger import JobsContract, LeasesContract, StepsContract
from vr_testing.contracts.state.limits import LimitsContract, SignalsContract
from vr_testing.contracts.state.rows import RowsContract
from vr_testing.contracts.state.usage import UsageContract
from vr_testing.contracts.state.vectors import VectorContract


class StateContract(
    CallEndContract,
    JournalContract,
    LeasesContract,
    JobsContract,
    StepsContract,
    LimitsContract,
    SignalsContract,
    RowsContract,
    CacheContract,
    UsageContract,
    VectorContract,
):
    """The tests of `vr_kernel.state.State`, for pytest with asyncio's auto mode.

    A subclass says how a state is opened:

    ```python
    class TestMemoryState(StateContract):
        @asynccontextmanager
        async def opened(self, clock=None):
            yield MemoryState(LEASE_S, clock or time.time)
    ```
    """
