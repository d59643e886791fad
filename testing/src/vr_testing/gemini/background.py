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
from vr_testing.gemini.request import RecordedRequest
from vr_testing.service.answer import Answer

Finish = Callable[[], dict[str, Any]]
TOLD = ("model", "agent", "previous_interaction_id")
"""Fields of a request that the interaction repeats."""


@dataclass
class Work:
    """One piece of work: `finish` makes its outcome, which is then kept."""

    id: str
    told: dict[str, Any]
    finish: Finish
    polls_left: int
    api_key: str = ""
    outcome: dict[str, Any] | None = None
    created: datetime = field(default_factory=lambda: datetime.now(UTC))


class Background:
    """All work of one kind; its ids begin with `prefix`."""

    def __init__(self, behaviour: Behaviour, prefix: str) -> None:
        self._behaviour = behaviour
        self._prefix = prefix
        self._lock = threading.Lock()
        self._work: dict[str, Work] = {}
        self._begun = 0

    def begin(self, told: dict[str, Any], finish: Finish, api_key: str = "") -> Work:
        """Register new work of a key."""
        with self._lock:
            self._begun += 1
            name = f"{self._prefix}{self._begun:06d}"
            polls = self._behaviour.background_polls
            self._work[name] = work = Work(name, told, finish, polls, api_key)
        return work

    def finish(self, work: Work) -> dict[str, Any]:
        """Finish work now and return its outcome."""
        with self._lock:
            work.polls_left = 0
            work.outcome = work.finish()
            return work.outcome

    def cancel(self, work: Work) -> dict[str, Any]:
        """End work that is under way, without an outcome.

        Raises:
            ApiError: 400, when it has ended.
        """
        with self._lock:
            if work.outcome is not None:
                raise ApiError(400, "Only interactions that are in progress can be cancelled.")
            work.polls_left = 0
            work.outcome = {"status": "cancelled"}
            return work.outcome

    def forget(self) -> None:
        """Forget all work."""
        with self._lock:
            self._work.clear()

    def find(self, name: str, api_key: str = "") -> Work:
        """Work by its id; where keys see only their own, that of others is not there."""
        work = self._work.get(name)
        if work is None or (self._behaviour.own_files_only and work.api_key != api_key):
            raise ApiError(404)
        return work

    def find_for(self, request: RecordedRequest) -> Work:
        """Work that a request names."""
        return self.find(request.name, request.api_key)

    def require_ended(self, name: str, api_key: str) -> None:
        """Refuse to build on work that is missing, or under way.

        Raises:
            ApiError: 404 or 400.
        """
        if self.find(name, api_key).outcome is None:
            raise ApiError(400, "The previous interaction is still in progress.")

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


def told_of(request: RecordedRequest) -> dict[str, Any]:
    """The fields of a request that the interaction repeats."""
    return {name: request.body[name] for name in TOLD if name in request.body}


def interaction_outcome(answer: Answer, usage: Usage, behaviour: Behaviour) -> dict[str, Any]:
    """The end of an interaction: its steps, the last of which is the answer, and the usage."""
    citations = [
        {"type": "url_citation", "title": title, "url": url} for title, url in answer.sources
    ]
    text = {"type": "text", "text": answer.text, "annotations": citations}
    thought = {"type": "thought", "summary": [{"type": "text", "text": answer.thought}]}
    drafts = [{"type": "text", "text": draft} for draft in behaviour.background_drafts]
    steps = [
        *({"type": "model_output", "content": [draft]} for draft in drafts),
        *([thought] if answer.thought else []),
        {"type": "model_output", "content": [text]},
    ]
    problem = behaviour.background_problem
    return {
        "status": behaviour.background_ends,
        "steps": steps,
        **({"errors": [{"message": problem}]} if problem else {}),
        "usage": {
            "total_input_tokens": usage.input_tokens,
            "total_output_tokens": usage.output_tokens,
            "total_thought_tokens": usage.thinking_tokens,
            "total_cached_tokens": usage.cached_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens + usage.thinking_tokens,
        },
    }
