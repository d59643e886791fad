"""The script of the fake model: rules for its answers and failures, in the order given."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Generic, TypeVar

from vr_testing.service.answer import Answer, Reaction, settle, unscripted
from vr_testing.service.faults import ServiceFault
from vr_testing.service.request import Received

T = TypeVar("T")
Predicate = Callable[[Any], bool]


@dataclass
class Rule(Generic[T]):
    """One rule: its effect, the requests it is for, how often it still applies (None: always)."""

    then: T
    when: Predicate | None = None
    left: int | None = None
    rate: float | None = None

    def fits(self, request: Received, chance: Random) -> bool:
        """Check if the rule applies to this request."""
        if self.left == 0 or (self.when is not None and not self.when(request)):
            return False
        return self.rate is None or chance.random() < self.rate


class Script:
    """The rules of one fake service; safe to use from many threads."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)  # noqa: S311 - faults that come again, not secrets
        self._lock = threading.Lock()
        self._answers: list[Rule[tuple[Reaction, str]]] = []
        self._faults: list[Rule[ServiceFault]] = []

    def add_answer(
        self, reaction: Reaction, thought: str, when: Predicate | None, times: int | None
    ) -> None:
        """See `FakeService.answer`."""
        with self._lock:
            self._answers.append(Rule((reaction, thought), when, times))

    def add_fault(
        self, fault: ServiceFault, when: Predicate | None, times: int | None, rate: float | None
    ) -> None:
        """See `FakeService.fail`."""
        with self._lock:
            self._faults.append(Rule(fault, when, None if rate is not None else times, rate))

    def clear(self) -> None:
        """Forget every rule."""
        with self._lock:
            self._answers.clear()
            self._faults.clear()

    def answer_to(self, request: Received) -> Answer:
        """Find the model's answer; a function of the script is called outside any lock."""
        found = self._first(self._answers, request)
        if found is None:
            return unscripted(request)
        reaction, thought = found
        answer = settle(reaction, request)
        return replace(answer, thought=thought) if thought else answer

    def fault_of(self, request: Received) -> ServiceFault | None:
        """Find what goes wrong with this request; None when nothing does."""
        with self._lock:
            faults = [rule for rule in self._faults if rule.then.applies(request)]
        return self._first(faults, request)

    def _first(self, rules: list[Rule[T]], request: Received) -> T | None:
        with self._lock:
            for rule in rules:
                if rule.fits(request, self._chance):
                    rule.left = None if rule.left is None else rule.left - 1
                    return rule.then
        return None
