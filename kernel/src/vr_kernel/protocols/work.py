"""Work of several plugins and processes: leases, jobs, providers, what is installed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from pathlib import Path

    from vr_kernel.documents import Document
    from vr_kernel.errors import VrError
    from vr_kernel.jobs.lease import Lease
    from vr_kernel.state.jobs import Job, JobState

T = TypeVar("T")


class Leases(Protocol):
    """Names that one process at a time owns."""

    def held(
        self,
        name: str,
        *,
        until: Callable[[], Awaitable[bool]] | None = None,
        patience: float = ...,
        without: Callable[[VrError], bool] = ...,
        waiting: Callable[[], None] = ...,
    ) -> AbstractAsyncContextManager[Lease | None]:
        """Own a name for the length of an `async with`, as soon as it is free.

        Yields None when the caller should continue without the lease. A name is owned
        once: a caller that owns it already waits for itself, as long as `patience` lets it.

        Args:
            name: what to own.
            until: checks, after each try, if another process has done the work by now.
            patience: seconds to wait for another owner; without limit when left out.
            without: accepts the errors of the ledger after which to continue without a lease.
            waiting: called once, before the first pause, to say that this waits.

        Raises:
            VrError: UNAVAILABLE when the ledger cannot be written; what `until` raises.
        """

    async def acquire(self, name: str) -> Lease | None:
        """Own a name; None while any process, this one included, owns it."""

    async def release(self, lease: Lease, *, done: bool = False) -> None:
        """Release a lease; with `done`, forget the committed steps of that name."""


class Jobs(Protocol):
    """Calls that go on in the background, even when the process that began them ends."""

    async def begin(self, tool: str, arguments: Mapping[str, Any], principal: str, /) -> str:
        """Begin a job for a principal: a call of a long tool. Returns its id.

        Raises:
            VrError: NOT_FOUND when no long tool of that name is served; UNAVAILABLE when the
                ledger cannot be written.
        """

    async def find(self, job_id: str, principal: str) -> Job:
        """Return a job of that principal.

        Raises:
            VrError: NOT_FOUND, category JOB_UNKNOWN.
        """

    async def wait(
        self, job_id: str, principal: str, wait_s: float, tell: Callable[[Job], None] = ...
    ) -> Job:
        """Return the job when it has ended, or as it is after `wait_s`.

        Raises:
            VrError: NOT_FOUND, category JOB_UNKNOWN.
        """

    async def list(self, principal: str, states: tuple[JobState, ...], limit: int) -> list[Job]:
        """List jobs of that principal, the newest first; of some states, or of all."""

    async def cancel(self, job_id: str, principal: str) -> Job:
        """Cancel a job, in whatever process it is.

        Raises:
            VrError: NOT_FOUND, category JOB_UNKNOWN.
        """


class Providers(Protocol):
    """The things that plugins provide to each other."""

    def names(self, kind: type[T]) -> list[str]:
        """List the providers of that kind by name, the preferred first."""

    def get(self, kind: type[T], name: str | None = None) -> T:
        """Return the provider that is asked for, or configured, or preferred, or first by name.

        Raises:
            VrError: UNAVAILABLE when there is none, or none of that name.
        """


class InstalledPlugin(Protocol):
    """An installed plugin and its state."""

    @property
    def name(self) -> str:
        """The name of its entry point."""

    @property
    def version(self) -> str:
        """The version of its distribution."""

    @property
    def state(self) -> str:
        """One of `loaded`, `blocked`, `incompatible`, `conflict`, `broken`, `degraded`."""

    @property
    def tools(self) -> Sequence[str]:
        """The names of its tools."""

    @property
    def reason(self) -> str:
        """A sentence for a person, empty for a plugin that is loaded."""


class Files(Protocol):
    """Files of the user's folders, below allowed roots, as `call.files`.

    A name may lead into folders inside the given one (`notes/a.md`), but not through a link.
    """

    async def read(self, folder: str | Path, name: str) -> tuple[bytes, str]:
        """Read a file whole: its content, and the SHA-256 of it in hexadecimal.

        Raises:
            VrError: NOT_FOUND, category FILE_NOT_FOUND; TOO_LARGE above 100 MB; else as `write`.
        """

    async def write(
        self,
        folder: str | Path,
        name: str,
        data: bytes,
        expected: str | None = None,
        *,
        append: bool = False,
    ) -> str:
        """Create a file, replace the one that was read, or append to one; returns its new digest.

        A reader finds the whole former content or the whole new one, also after a power cut.
        Folders in the name are made when they are not there. Of two writers at once one wins;
        the blocks of two that append both come, one after the other.

        Args:
            folder: an existing folder.
            name: of the file in it, which every system takes.
            data: the whole content; with `append`, the block that follows what is there.
            expected: SHA-256 of the content that is replaced, or lengthened, as it was read.
                When left out, the file must not be there yet, unless it is appended to.
            append: write at the end; the file may be missing.

        Raises:
            VrError: CONFLICT, category FILE_EXISTS, FILE_CHANGED for another content than
                `expected` or a file that is gone, or FILE_BUSY; INVALID_INPUT, category
                NAME_INVALID, or for a folder in the file's place; NOT_ALLOWED outside the roots,
                for a link, a device, a read-only file; TOO_LARGE above 100 MB, before or
                after; UNAVAILABLE on a full disk.
        """


class Caller(Protocol):
    """A call on whose behalf a service works."""

    @property
    def principal(self) -> str:
        """The name of the caller."""

    @property
    def tool(self) -> str:
        """The name of the tool."""


class Documents(Protocol):
    """The readers of documents of all plugins."""

    async def load(self, call: Caller, source: str, *, pictures: bool = False) -> Document:
        """Read the document at a path or an address by the first loader that takes it.

        Args:
            call: the call that reads it; costs and records of reading belong to it.
            source: a path, or an http or https address.
            pictures: keep the pictures of the document as artifacts, see `Document.pictures`.

        Raises:
            VrError: UNSUPPORTED, category NO_LOADER; else as `DocumentLoader.load`.
        """
