"""Asking services one after another, or several at once, until enough have answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, TypeVar

from vr_kernel import Code, Log, VrError

from vr_plugin_search.engines.failures import NOT_SET_UP

T = TypeVar("T")
UNAVAILABLE = "SEARCH_UNAVAILABLE"
"""Category: none of the services answered."""
PAPER_UNKNOWN = "PAPER_UNKNOWN"
"""Category: the services know no paper with an identifier."""
_FINAL_CODES = frozenset({Code.BUDGET, Code.CANCELLED})
_FINAL = frozenset({"PREVIEWED", "LEASE_LOST", "STATE_UNAVAILABLE"})
"""Categories of errors that are about the call: no other service is asked instead."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A service that did not answer, and why."""

    name: str
    error: VrError

    @property
    def lacks_setup(self) -> bool:
        """True when it was not even asked, since it is not configured."""
        return self.error.category == NOT_SET_UP

    @property
    def is_final(self) -> bool:
        """True when it is about the call itself, such as its budget."""
        return self.error.code in _FINAL_CODES or self.error.category in _FINAL


@dataclass(slots=True)
class Round(Generic[T]):
    """The answers of services by their names, and those that did not answer."""

    answers: dict[str, T] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def take(self, name: str, outcome: tuple[T] | Failure) -> None:
        """Take what came of asking a service."""
        if isinstance(outcome, Failure):
            self.failures.append(outcome)
        else:
            self.answers[name] = outcome[0]

    def lacking(self, wanted: int, running: int) -> int:
        """The number of services that are still to be asked, beside those that are."""
        if any(it.is_final for it in self.failures):
            return 0
        return wanted - len(self.answers) - running

    @property
    def notes(self) -> list[str]:
        """Remarks on services that were passed over."""
        told = [
            f"{it.name} did not answer: {it.error.message}"
            for it in self.failures
            if not it.lacks_setup
        ]
        unready = [it.name for it in self.failures if it.lacks_setup]
        return [*told, *([f"Not set up: {', '.join(unready)}."] if unready else [])]


async def ask_in_order(
    names: Sequence[str], wanted: int, ask: Callable[[str], Awaitable[T]], log: Log
) -> Round[T]:
    """Ask services until so many have answered; one that fails is replaced by the next.

    Args:
        names: of the services, in order.
        wanted: answers; all services are asked when there are fewer.
        ask: asks the service of a name.
        log: gets what a stranger's provider raises.

    Raises:
        VrError: UNAVAILABLE, category SEARCH_UNAVAILABLE, when none answers; what concerns the
            call itself, such as its budget; of a single service its own error.
    """
    found: Round[T] = Round()
    left = iter(names)
    running = {asyncio.create_task(_outcome(it, ask, log)): it for it in islice(left, wanted)}
    try:
        while running:
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                found.take(running.pop(task), task.result())
            for name in islice(left, found.lacking(wanted, len(running))):
                running[asyncio.create_task(_outcome(name, ask, log))] = name
    finally:
        await _ended(running)
    found.failures.sort(key=lambda it: names.index(it.name))
    final = next((it.error for it in found.failures if it.is_final), None)
    if final is not None:
        raise final
    if not found.answers:
        raise found.failures[0].error if len(names) == 1 else nobody_answered(found.failures)
    return found


async def _outcome(name: str, ask: Callable[[str], Awaitable[T]], log: Log) -> tuple[T] | Failure:
    try:
        return (await ask(name),)
    except VrError as error:
        return Failure(name, error)
    except Exception:
        log.exception("a search provider failed", name=name)
        hint = "See the log; name another provider."
        return Failure(name, VrError("it failed in its own code.", Code.INTERNAL, hint=hint))


async def _ended(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel what still runs, and wait for its end."""
    left = [task for task in tasks if not task.done()]
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left)


def paper_unknown(reason: str) -> VrError:
    """The error of a paper that no service knows."""
    return VrError(
        f"The paper is not known. {reason}".strip(),
        Code.NOT_FOUND,
        category=PAPER_UNKNOWN,
        hint="Check its identifier, or search for its title with paper_search.",
    )


def nobody_answered(failures: Sequence[Failure]) -> VrError:
    """The error when no service answered, with the reason of each."""
    reasons = [f"{it.name}: {it.error.message}" for it in failures if not it.lacks_setup]
    unready = ", ".join(it.name for it in failures if it.lacks_setup)
    if failures and all(it.error.code is Code.NOT_FOUND for it in failures):
        return paper_unknown(" ".join(reasons))
    asked = [it for it in failures if not it.lacks_setup]
    waits = [it.error.retry_after for it in asked if it.error.retry_after is not None]
    if asked:
        hint = next((it.error.hint for it in asked if it.error.hint), "Try again later.")
    else:
        hint = _set_up(failures)
    told = ["No search service answered.", *reasons, f"Not set up: {unready}." if unready else ""]
    return VrError(
        " ".join(told).strip(),
        Code.UNAVAILABLE,
        category=UNAVAILABLE,
        hint=hint,
        retryable=any(it.error.retryable for it in asked),
        retry_after=min(waits, default=None),
    )


def _set_up(failures: Sequence[Failure]) -> str:
    """Tell how to set up the first service, and the one that needs no key."""
    hints = {it.name: it.error.hint for it in failures if it.error.hint}
    free = hints.pop("searxng", "")
    told = [next(iter(hints.values()), ""), f"Without a key: SearXNG. {free}" if free else ""]
    return " ".join(filter(None, told)) or "Install a plugin that provides a search."
