"""Work that is asked for now and fetched later: batches and interactions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from vr_kernel.generation import Usage

from vr_testing.gemini.answer import Answer
from vr_testing.gemini.behaviour import Conduct
from vr_testing.gemini.errors import ApiError
from vr_testing.gemini.files import timestamp
from vr_testing.gemini.request import RecordedRequest, inner_request, look_up

Finish = Callable[[], dict[str, Any]]


@dataclass
class Work:
    """Something under way: `finish` makes its outcome, which is then kept."""

    id: str
    told: dict[str, Any]
    finish: Finish
    polls_left: int
    cancelled: bool = False
    outcome: dict[str, Any] | None = None
    created: datetime = field(default_factory=lambda: datetime.now(UTC))


class Background:
    """All work of one kind; its ids begin with `prefix`."""

    def __init__(self, conduct: Conduct, prefix: str) -> None:
        self._conduct = conduct
        self._prefix = prefix
        self._lock = threading.Lock()
        self._work: dict[str, Work] = {}

    def begin(self, told: dict[str, Any], finish: Finish) -> Work:
        """Take work."""
        with self._lock:
            name = f"{self._prefix}{len(self._work) + 1:06d}"
            self._work[name] = work = Work(name, told, finish, self._conduct.background_polls)
        return work

    def finish(self, work: Work) -> dict[str, Any]:
        """The outcome, at once."""
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
        """The outcome, None as long as there is none; asking brings it forward."""
        with self._lock:
            if work.cancelled:
                return None
            if work.polls_left:
                work.polls_left -= 1
                return None
            if work.outcome is None:
                work.outcome = work.finish()
            return work.outcome


def batch(work: Work, outcome: dict[str, Any] | None) -> dict[str, Any]:
    """A batch as the service shows it."""
    state = "BATCH_STATE_RUNNING" if outcome is None else "BATCH_STATE_SUCCEEDED"
    kind = "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch"
    name = f"batches/{work.id}"
    metadata = {
        "@type": kind,
        **work.told,
        "name": name,
        "createTime": timestamp(work.created),
        "updateTime": timestamp(work.created),
        "state": "BATCH_STATE_CANCELLED" if work.cancelled else state,
    }
    if outcome is None:
        return {"name": name, "metadata": metadata}
    metadata |= {"output": outcome, "endTime": timestamp(work.created)}
    return {"name": name, "metadata": metadata, "done": True, "response": outcome}


def questions(request: RecordedRequest) -> list[RecordedRequest]:
    """The requests of a batch, each as if it had come alone."""
    inputs = look_up(look_up(request.body, "batch"), "inputConfig")
    listed = look_up(look_up(inputs, "requests"), "requests") or []
    return [inner_request(request, look_up(each, "request")) for each in listed]


def interaction(work: Work, outcome: dict[str, Any] | None) -> dict[str, Any]:
    """An interaction as the service shows it."""
    shown = {
        "id": work.id,
        "object": "interaction",
        **work.told,
        "created": timestamp(work.created),
        "updated": timestamp(work.created),
    }
    if work.cancelled:
        return shown | {"status": "cancelled"}
    if outcome is None:
        return shown | {"status": "in_progress"}
    return shown | {"status": "completed", **outcome}


def interaction_outcome(answer: Answer, usage: Usage) -> dict[str, Any]:
    """What an interaction ends with: its steps, whose last text the SDK shows, and the usage."""
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
