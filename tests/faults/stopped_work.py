"""Processes that are killed or stopped in their work, and what they keep, for two tests."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

import fence_worker
from fence_worker import Order, Worker
from paid_work import ASKED, paying
from paid_worker import Nursery
from vr_testing import FakeGemini
from vr_testing.gemini.request import RecordedRequest


class Answers:
    """Answers of the fake service, by question: no two are equal."""

    def __init__(self, gemini: FakeGemini) -> None:
        self._gemini = gemini
        self._given: dict[str, list[str]] = {}
        self._number = count()
        self._lock = Lock()  # answers come in threads of the service
        gemini.answer(self._answer)

    def _answer(self, request: RecordedRequest) -> str:
        with self._lock:
            text = f"answer {next(self._number)}"
            self._given.setdefault(request.text, []).append(text)
        return text

    def of(self, name: str) -> list[list[str]]:
        """The answers to each question of that name, in the order of the questions."""
        with self._lock:
            given = [(question, [*texts]) for question, texts in self._given.items()]
        return [texts for question, texts in given if question.split(" item ")[0] == name]

    def asked(self, name: str) -> int:
        """Count the requests with a question of that name."""
        requests = self._gemini.requests_of(ASKED)
        return sum(request.text.split(" item ")[0] == name for request in requests)


class Trial:
    """A state folder, and the orders of those who work in it, each on the same call.

    Args:
        folder: of the nursery.
        name: of the trial, and of what its call asks.
        tool: `paid_batch`, in three steps, or `paid_once`.
    """

    def __init__(
        self, nursery: Nursery, gemini: FakeGemini, folder: Path, name: str, tool: str
    ) -> None:
        self.name = name
        self.home = folder / name
        self.state = self.home / "state"
        self.cache = self.home / "cache"
        batch = {"name": name, "items": 3, "at_once": 1}
        given = batch if tool == "paid_batch" else {"question": name}
        own = {f"VR_{it}_DIR": str(self.home / it.lower()) for it in ("STATE", "CACHE", "CONFIG")}
        environ = {"HOME": str(self.home), **own, **paying(gemini, VR_KERNEL__LEASE_S="2")}
        self.order = Order(environ, uuid.uuid4().hex, tool, given)
        self._nursery = nursery
        self._folder = folder

    def work(self, name: str, **changes: Any) -> Worker:
        """A process that does the order of the trial, with changes."""
        order = replace(self.order, **changes)
        with STARTING:
            return Worker(self._nursery, self._folder, f"{self.name}/{name}", order)


STARTING = threading.Lock()


@contextmanager
def nursery_in(folder: Path, environ: Mapping[str, str]) -> Iterator[Nursery]:
    """Makes processes that do orders below that folder."""
    with Nursery(environ, folder, fence_worker.__file__) as nursery:
        yield nursery


def texts_of(result: Mapping[str, Any]) -> list[str]:
    """The answers in a result of either tool."""
    return list(result["texts"]) if "texts" in result else [result["text"]]
