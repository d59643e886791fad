"""Runs checks in parallel: none can end, delay or hide the others."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from vr_kernel import Check, Diagnosis, Level, Remedy, VrError, visible
from vr_kernel.isolation import PluginCode
from vr_kernel.loading import explain

from vr_cli.output import one_line

T = TypeVar("T")
END_S = 0.5
"""How long checks that are cancelled may take to end."""
LINE_LIMIT = 400
"""Longest line of a finding, in characters."""


@dataclass(frozen=True, slots=True)
class Result:
    """The finding of one check, and the seconds it took.

    `group` names a plugin or a topic; a check that has not `answered` may still be running.
    """

    group: str
    name: str
    level: Level
    what: str
    fix: str
    seconds: float
    answered: bool
    remedy: Remedy | None = None


def run_checks(
    checks: Sequence[tuple[str, Check]],
    loop: asyncio.AbstractEventLoop,
    redact: Callable[[str], str] = str,
) -> list[Result]:
    """Run all checks at once and return what they found, in their order.

    Args:
        checks: each with its group.
        loop: runs, in another thread, the checks that are coroutine functions; one that blocks the
            loop delays only those.
        redact: takes secrets out of a text.
    """
    begun = time.monotonic()
    answers = [started(partial(_ask, check, loop)) for _, check in checks]
    results = []
    for (group, check), answer in zip(checks, answers, strict=True):
        left = begun + check.deadline_s - time.monotonic()
        found, seconds = _found(answer, max(0.0, left), group, check)
        what, fix = (_line(redact(visible(text))) for text in (found.what, found.fix))
        answered = seconds < check.deadline_s
        results.append(
            Result(group, check.name, found.level, what, fix, seconds, answered, found.remedy)
        )
    return results


def started(work: Callable[[], T]) -> Future[tuple[T, float]]:
    """Run `work` in a thread that never delays the exit; the future holds value and seconds."""
    answer: Future[tuple[T, float]] = Future()

    def target() -> None:
        begun = time.monotonic()
        try:
            value = work()
        except BaseException as error:  # noqa: BLE001 - a plugin's code must not end the program
            answer.set_exception(error)
        else:
            answer.set_result((value, time.monotonic() - begun))

    threading.Thread(target=target, name="vr-doctor", daemon=True).start()
    return answer


@contextmanager
def loop_aside() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop in a thread of its own; code that blocks it blocks nobody else."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="vr-doctor-loop", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        with suppress(Exception):
            if wait_for(loop, _emptied(), 2 * END_S):
                loop.call_soon_threadsafe(loop.stop)
                thread.join(END_S)
        if not thread.is_alive():
            loop.close()


async def _emptied() -> bool:
    """Cancel all tasks of this loop; True when all of them ended, so that it may be freed."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    return not left or not (await asyncio.wait(left, timeout=END_S))[1]


def wait_for(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T], deadline_s: float) -> T:
    """Run a coroutine in that loop and return its result.

    Raises:
        TimeoutError: when it takes longer than `deadline_s`.
        Exception: what it raised.
    """
    answer = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return answer.result(deadline_s)
    finally:
        answer.cancel()


def failure(error: BaseException, group: str) -> Diagnosis:
    """The fault of a check, or of a plugin's hook, that raised."""
    if isinstance(error, VrError):
        return Diagnosis.fault(error.message, error.hint or _report_to(group))
    return Diagnosis.fault(f"The check failed: {explain(error)}", _report_to(group))


def _ask(check: Check, loop: asyncio.AbstractEventLoop) -> Diagnosis:
    if inspect.iscoroutinefunction(check.examine):
        found: Any = wait_for(loop, PluginCode.ended(check.examine()), check.deadline_s)
    else:
        found = check.examine()
    if not isinstance(found, Diagnosis):
        raise TypeError(f"it returned {type(found).__name__}, not a Diagnosis")
    if not (isinstance(found.what, str) and isinstance(found.fix, str)):
        raise TypeError("it returned a Diagnosis whose fields are not texts")
    return found


def _found(
    answer: Future[tuple[Diagnosis, float]], left_s: float, group: str, check: Check
) -> tuple[Diagnosis, float]:
    try:
        return answer.result(left_s)
    except TimeoutError:
        what = f"The check gave no answer in {check.deadline_s:g} s."
        return Diagnosis.fault(what, _report_to(group)), check.deadline_s
    except BaseException as error:  # noqa: BLE001 - raised by the check, which may be a plugin's
        return failure(error, group), 0.0


def _line(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= LINE_LIMIT else f"{line[:LINE_LIMIT]}…"


def _report_to(group: str) -> str:
    return f"Run it again; if it stays so, report it to {group}."
