"""The one error type that crosses a boundary, its codes, and what a plugin's code may raise."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from asyncio import Task
    from types import TracebackType

    from vr_kernel.generation import Usage
    from vr_kernel.log import Log

T = TypeVar("T")
MODULES: ContextVar[tuple[str, ...]] = ContextVar("vr-modules", default=())
"""Those of plugins' functions within whose work this is, the last one called at the end."""

ERROR_META = "video-research/error"
"""Where a failed result says in `_meta` what went wrong: the fields of `VrError.as_dict`."""
MOST_SAID = 500
"""Longest text of somebody's exception in a message or a line of the log, in characters."""


class Code(StrEnum):
    """What went wrong, as a client may branch on it; plugins add categories, never codes."""

    INVALID_INPUT = "INVALID_INPUT"
    NOT_FOUND = "NOT_FOUND"
    NOT_ALLOWED = "NOT_ALLOWED"
    AUTH = "AUTH"
    QUOTA = "QUOTA"
    BUDGET = "BUDGET"
    UNAVAILABLE = "UNAVAILABLE"
    TOO_LARGE = "TOO_LARGE"
    UNSUPPORTED = "UNSUPPORTED"
    CONFLICT = "CONFLICT"
    CANCELLED = "CANCELLED"
    INTERNAL = "INTERNAL"


# The categories of video-research-mcp, kept under their own names: category -> code.
CATEGORIES: dict[str, Code] = {
    "URL_INVALID": Code.INVALID_INPUT,
    "URL_PARSE_FAILED": Code.INVALID_INPUT,
    "API_PERMISSION_DENIED": Code.AUTH,
    "API_QUOTA_EXCEEDED": Code.QUOTA,
    "API_INVALID_ARGUMENT": Code.INVALID_INPUT,
    "API_NOT_FOUND": Code.NOT_FOUND,
    "VIDEO_RESTRICTED": Code.NOT_ALLOWED,
    "VIDEO_PRIVATE": Code.NOT_ALLOWED,
    "VIDEO_UNAVAILABLE": Code.UNAVAILABLE,
    "NETWORK_ERROR": Code.UNAVAILABLE,
    "FILE_NOT_FOUND": Code.NOT_FOUND,
    "FILE_UNSUPPORTED": Code.UNSUPPORTED,
    "FILE_TOO_LARGE": Code.TOO_LARGE,
    "WEAVIATE_CONNECTION": Code.UNAVAILABLE,
    "WEAVIATE_SCHEMA": Code.CONFLICT,
    "WEAVIATE_QUERY": Code.INVALID_INPUT,
    "WEAVIATE_IMPORT": Code.UNAVAILABLE,
    "UNKNOWN": Code.INTERNAL,
}


ERROR_BYTES = 4_096
"""Most of a message, and of a hint, in UTF-8."""
CLEANED = 16
"""As many times of what is shown of a text is searched for secrets."""
NAME_CHARS = 200
"""As much of a name as is compared with others: what is longer is near to none."""
QUOTA_RETRY_S = 60.0
"""When to come back to a service whose quota is used up, where it does not say."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The start of a hint that names the nearest known name, empty when none is near."""
    near = get_close_matches(name[:NAME_CHARS], list(known), n=1)
    return f"Did you mean {near[0]!r}? " if near else ""


def bounded(text: str, most: int = ERROR_BYTES, clean: Callable[[str], str] = str) -> str:
    """The text, or its beginning and how long it was.

    Args:
        text: of any length.
        most: bytes of UTF-8 that are returned.
        clean: takes out of the text what nobody shall see.
    """
    room = CLEANED * most
    # What is very long takes long to clean. Where that cuts a secret in two, nothing is kept.
    shown = clean(text) if len(text) <= room else clean(text[:room])[:-most]
    if len(text) <= room and len(shown.encode("utf-8", "replace")) <= most:
        return shown
    mark = f"… ({len(text):,} characters)".encode()
    start = shown[:most].encode("utf-8", "replace")[: most - len(mark)]
    return start.decode("utf-8", "ignore") + mark.decode()


class VrError(Exception):
    """An expected failure: what happened, and what the caller can do next.

    Args:
        message: what happened, in one sentence, without secrets.
        code: the kind of failure a client may branch on.
        category: a finer name that a plugin may add; the code's own name when left out.
        hint: what to do next.
        retryable: whether the same call may succeed later.
        retry_after: seconds to wait before a retry, when known.
        usage: what was paid for all the same.
        detail: what was received, such as an answer that does not fit; never shown as it is.
    """

    def __init__(
        self,
        message: str,
        code: Code = Code.INTERNAL,
        *,
        category: str | None = None,
        hint: str = "",
        retryable: bool = False,
        retry_after: float | None = None,
        usage: Usage | None = None,
        detail: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.category = category or code.value
        self.hint = hint
        self.retryable = retryable
        self.retry_after = retry_after
        self.usage = usage
        self.detail = detail

    def reworded(self, message: str, hint: str) -> VrError:
        """The same failure in other words; the error itself stays, as others may hold it."""
        told = VrError(
            message,
            self.code,
            category=self.category,
            hint=hint,
            retryable=self.retryable,
            retry_after=self.retry_after,
            usage=self.usage,
            detail=self.detail,
        )
        told.__cause__ = self.__cause__
        return told

    def as_dict(self, call_id: str) -> dict[str, Any]:
        """The error as every client sees it: each of its texts has at most `ERROR_BYTES`."""
        shown = {
            "code": self.code.value,
            "category": bounded(self.category, NAME_CHARS),
            "message": bounded(self.message),
            "hint": bounded(self.hint),
            "retryable": self.retryable,
            "retry_after_seconds": self.retry_after,
            "call_id": call_id,
        }
        return shown if self.usage is None else {**shown, "usage": self.usage.model_dump()}


class PassedOn(BaseException):
    """What the kernel sends through a plugin's code: no failure, and no plugin may catch it."""


class PluginCode:
    """A plugin's code at work: `with` it, whatever is raised there is an `Exception`.

    What would end a task, a thread or the program (`SystemExit`, `KeyboardInterrupt`, a
    `CancelledError` raised by hand, a class of its own) becomes a RuntimeError. Passed on is
    what comes from outside: the task is cancelled, its coroutine is closed, or a person presses
    Ctrl-C in a program that leaves that to Python.
    """

    __slots__ = ("_task",)

    def __enter__(self) -> None:
        """Begin."""
        self._task = _current_task()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Make an exception of what was raised.

        Raises:
            RuntimeError: for what is none.
        """
        if error is None or isinstance(error, Exception) or self._is_from_outside(error):
            return
        raise RuntimeError(f"{type(error).__name__} came out of a plugin") from error

    @staticmethod
    async def ended(work: Awaitable[T]) -> T:
        """What the work of a plugin gives, for a task of its own."""
        with PluginCode():
            return await work

    @staticmethod
    async def apart(function: Callable[..., Awaitable[T]], /, *given: Any, **named: Any) -> T:
        """What a function of a plugin gives, in a task of its own.

        A GeneratorExit that a future carries closes every coroutine of the task that awaits it:
        these are the plugin's alone. Cancellation is passed on, and its end awaited.
        """
        import asyncio

        name = getattr(function, "__qualname__", None)
        return await asyncio.create_task(_given(function, given, named), name=name)

    def _is_from_outside(self, error: BaseException) -> bool:
        import asyncio

        if isinstance(error, asyncio.CancelledError):
            # In a thread nobody cancels.
            return self._task is not None and self._task.cancelling() > 0
        if isinstance(error, GeneratorExit):
            return _current_task() is not self._task
        return isinstance(error, PassedOn) or is_interrupt(error)


@contextmanager
def contained(what: str, plugin: str, log: Log) -> Iterator[None]:
    """Let no failure out of a plugin but typed ones: its words may be for no client.

    Raises:
        VrError: what the plugin raised; INTERNAL when it failed in another way.
    """
    try:
        with PluginCode():
            yield
    except VrError:
        raise
    except Exception as error:
        log.exception("plugin failed", plugin=plugin, what=what)
        raise VrError(
            f"{what} of plugin {plugin} failed unexpectedly.",
            Code.INTERNAL,
            hint="The server's log has the details. Report it to the plugin.",
        ) from error


def is_interrupt(error: BaseException) -> bool:
    """Whether it is a person's Ctrl-C: where a program leaves that to Python, it may always be."""
    if not isinstance(error, KeyboardInterrupt):
        return False
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():
        return False
    handler: Any = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        return True
    # A handler that is a function, such as that of asyncio, raises it itself.
    code, at = getattr(getattr(handler, "func", handler), "__code__", None), error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return at is not None and at.tb_frame.f_code is code


def said(error: BaseException) -> str:
    """What an exception says of itself, as one line: no class of others makes this fail."""
    name = type(error).__name__
    try:
        text = str(error)[: 2 * MOST_SAID]
    except BaseException:  # noqa: BLE001 - the text is code of whoever wrote the class
        return f"{name} (it has no text)"
    line = " ".join(f"{name}: {text}".split()).rstrip(": ")
    return line if len(line) <= MOST_SAID else f"{line[:MOST_SAID]}…"


async def _given(
    function: Callable[..., Awaitable[T]], given: tuple[Any, ...], named: dict[str, Any]
) -> T:
    module = str(getattr(function, "__module__", ""))
    MODULES.set((*(each for each in MODULES.get() if each != module), module))
    with PluginCode():
        return await function(*given, **named)


def _current_task() -> Task[Any] | None:
    """The task that runs in this thread, if there is one."""
    import asyncio

    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
