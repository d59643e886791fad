"""Background work that is requested now and polled later: interactions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from vr_kernel.generation import Usage

from vr_testing.gemini.behaviour import Behaviour
from vr_testing.gemini.errors import ApiError
from vr_testing.gemini.files import timestamp
from vr_testing.service.answer import Answer

Finish = Callable[[], dict[str, Any]]


@dataclass
class Work:
    """One piece of work: `finish` makes its outcome, which is then kept."""

    id: str
    told: dict[str, Any]
    finish: Finish
    polls_left: int
    outcome: dict[str, Any] | None = None
    created: datetime = field(default_factory=lambda: datetime.now(UTC))


class Background:
    """All work of one kind; its ids begin with `prefix`."""

    def __init__(self, behaviour: Behaviour, prefix: str) -> None:
        self._behaviour = behaviour
        self._prefix = prefix
        self._lock = threading.Lock()
        self._work: dict[str, Work] = {}

    def begin(self, told: dict[str, Any], finish: Finish) -> Work:
        """Register new work."""
        with self._lock:
            name = f"{self._prefix}{len(self._work) + 1:06d}"
            self._work[name] = work = Work(name, told, finish, self._behaviour.background_polls)
        return work

    def finish(self, work: Work) -> dict[str, Any]:
        """Finish work now and return its outcome."""
        with self._lock:
            work.polls_left = 0
            work.outcome = work.finish()
            return work.outcome

    def find(self, name: str) -> Work:
        """Work by its id."""
        work = self._work.get(name)
        if work is None:
            raise ApiError(404)
        return work

    def poll(self, work: Work) -> dict[str, Any] | None:
        """The outcome, None while unfinished; each poll brings it closer."""
        with self._lock:
            if work.polls_left:
                work.polls_left -= 1
                return None
            if work.outcome is None:
                work.outcome = work.finish()
            return work.outcome


def interaction(work: Work, outcome: dict[str, Any] | None) -> dict[str, Any]:
    """An interaction as the service shows it."""
    shown = {
        "id": work.id,
        "object": "interaction",
        **work.told,
        "created": timestamp(work.created),
        "updated": timestamp(work.created),
    }
    if outcome is None:
        return shown | {"status": "in_progress"}
    return shown | {"status": "completed", **outcome}


def interaction_outcome(answer: Answer, usage: Usage) -> dict[str, Any]:
    """The end of an interaction: its steps, whose last text the SDK shows, and the usage."""
    citations = [
        {"type": "url_citation", "title": title, "url": url} for title, url in answer.sources
    ]
    text = {"type": "text", "text": answer.text, "annotations": citations}
    thought = {"type": "thought", "summary": [{"type": "text", "text": answer.thought}]}
    steps = [*([thought] if answer.thought else []), {"type": "model_output", "content": [text]}]
    return {
        "steps": steps,
        "usage": {
            "total_input_tokens": usage.input_tokens,
            "total_output_tokens": usage.output_tokens,
            "total_thought_tokens": usage.thinking_tokens,
            "total_cached_tokens": usage.cached_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens + usage.thinking_tokens,
        },
    }
