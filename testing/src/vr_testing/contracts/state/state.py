"""The contract of a whole state: the tests of all its parts."""

from __future__ import annotations

from vr_testing.contracts.state.ledger import JobsContract, LeasesContract, StepsContract
from vr_testing.contracts.state.rows import RowsContract


class StateContract(LeasesContract, JobsContract, StepsContract, RowsContract):
    """The tests of `vr_kernel.state.State`, for pytest with asyncio's auto mode.

    A subclass says how a state is opened:

    ```python
    class TestMemoryState(StateContract):
        @asynccontextmanager
        async def opened(self, clock: Clock | None = None) -> AsyncIterator[State]:
            yield MemoryState(LEASE_S, clock or time.time)
    ```
    """
