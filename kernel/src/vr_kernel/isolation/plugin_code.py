"""A plugin's running code: whatever it raises is that plugin's own failure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from vr_kernel.errors import Code, VrError

if TYPE_CHECKING:
    from asyncio import Task
    from types import TracebackType

    from vr_kernel.log import Log

T = TypeVar("T")
MODULES: ContextVar[tuple[str, ...]] = ContextVar("vr-modules", default=())
"""Modules of the plugin functions that are running here, the last one called at the end."""


class PassedOn(BaseException):
    """A signal sent through a plugin's code: it is no failure, and plugins must not catch it."""


class PluginCode:
    """A block of plugin code: everything that is raised in it becomes an `Exception`.

    What would end a task, a thread or the program (`SystemExit`, `KeyboardInterrupt`, a
    `CancelledError` raised by hand, a class of its own) becomes a RuntimeError. What comes from
    outside is passed on: the task is cancelled, its coroutine is closed, or a person presses Ctrl-C
    in a program that leaves that to Python.
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
        """Turn what was raised into an `Exception`.

        Raises:
            RuntimeError: for a `BaseException` that is no `Exception`.
        """
        if error is None or isinstance(error, Exception) or self._is_from_outside(error):
            return
        raise RuntimeError(f"{type(error).__name__} came out of a plugin") from error

    @staticmethod
    async def ended(work: Awaitable[T]) -> T:
        """Return the result of a plugin's work; used as the coroutine of a task of its own."""
        with PluginCode():
            return await work

    @staticmethod
    async def apart(function: Callable[..., Awaitable[T]], /, *given: Any, **named: Any) -> T:
        """Return the result of a plugin's function, called in a task of its own.

        A GeneratorExit from a future closes every coroutine of the task that awaits it; here those
        are only the plugin's. Cancellation is passed on, and its end awaited.
        """
        import asyncio

        name = getattr(function, "__qualname__", None)
        return await asyncio.create_task(_given(function, given, named), name=name)

    def _is_from_outside(self, error: BaseException) -> bool:
        import asyncio

        if isinstance(error, asyncio.CancelledError):
            # A thread is never cancelled.
            return self._task is not None and self._task.cancelling() > 0
        if isinstance(error, GeneratorExit):
            return _current_task() is not self._task
        return isinstance(error, PassedOn) or is_interrupt(error)


@contextmanager
def contained(what: str, plugin: str, log: Log) -> Iterator[None]:
    """Turn any failure of a plugin into a typed error, since its own message may hold secrets.

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
    """Check for a person's Ctrl-C, which is always possible where a program leaves it to Python."""
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
