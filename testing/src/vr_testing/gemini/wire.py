"""The fake Gemini as the contract of model providers sees it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from vr_kernel.generation import ToolCall, Usage

from vr_testing.contracts.model_wire import FAILURES, Sent, Trouble
from vr_testing.gemini.faults import GENERATING, Fault
from vr_testing.gemini.request import RecordedRequest, content_parts, look_up
from vr_testing.gemini.server import FakeGemini
from vr_testing.service.answer import Answer, FunctionCall

RETRY_AFTER_S = 7.0
FOR_EVER_S = 600.0


class GeminiWire:
    """Speaks for a running `FakeGemini`."""

    troubles: frozenset[Trouble] = frozenset(FAILURES)

    def __init__(self, gemini: FakeGemini) -> None:
        self._gemini = gemini

    def answer(self, text: str, *, thought: str = "") -> None:
        """See `ModelWire.answer`."""
        self._gemini.answer(text, thought=thought)

    def call(self, *calls: ToolCall, text: str = "") -> None:
        """See `ModelWire.call`; its words are signed, too."""
        made = tuple(FunctionCall(each.name, dict(each.arguments), each.id) for each in calls)
        self._gemini.answer(Answer(text, calls=made, signed=bool(text)), times=1)

    def trouble(self, trouble: Trouble, *, retry_after: float | None = None) -> None:
        """See `ModelWire.trouble`."""
        faults = {
            **_STATUSES,
            **_BROKEN,
            "throttled": Fault.throttled(retry_after),
            "throttled_in_body": Fault.throttled(retry_delay=retry_after),
        }
        self._gemini.fail(faults[trouble], when=lambda request: request.action in GENERATING)

    def trickle(self) -> None:
        """See `ModelWire.trickle`."""
        self._gemini.pause = FOR_EVER_S

    def hold(self) -> AbstractContextManager[None]:
        """See `ModelWire.hold`."""
        return self._gemini.hold()

    def wait(self, condition: Callable[[], bool], timeout: float = 10.0) -> None:
        """See `ModelWire.wait`."""
        self._gemini.wait(condition, timeout)

    @property
    def sent(self) -> list[Sent]:
        """See `ModelWire.sent`."""
        return [_sent(request) for request in self._gemini.requests_of(*GENERATING)]

    @property
    def attempts(self) -> int:
        """See `ModelWire.attempts`."""
        return sum(request.asks_model for request in self._gemini.requests)

    @property
    def in_flight(self) -> int:
        """See `ModelWire.in_flight`."""
        return self._gemini.in_flight

    @property
    def cancelled(self) -> int:
        """See `ModelWire.cancelled`."""
        return self._gemini.cancelled

    @property
    def bill(self) -> Usage:
        """See `ModelWire.bill`; the service itself reports tokens alone."""
        return self._gemini.bill.model_copy(update={"cost_usd": None})


def _sent(request: RecordedRequest) -> Sent:
    contents = look_up(request.body, "contents") or []
    return Sent(
        model=request.model,
        turns=tuple((look_up(each, "role", "user"), _said(each)) for each in contents),
        system=request.system,
        schema=request.schema,
        media=len(request.media),
        key=request.api_key,
        tools={
            each["name"]: look_up(each, "parametersJsonSchema") or {} for each in request.functions
        },
        calls=tuple(
            (call["name"], look_up(call, "args") or {})
            for part in request.parts
            if (call := look_up(part, "functionCall"))
        ),
        results=tuple(
            str(next(iter(look_up(each, "response").values()))) for each in request.results
        ),
    )


def _said(content: object) -> str:
    return "\n".join(part["text"] for part in content_parts(content) if "text" in part)


_STATUSES: dict[Trouble, Fault] = {
    "bad_request": Fault.status(400),
    "bad_key": Fault.invalid_key(),
    "forbidden": Fault.status(403),
    "not_found": Fault.status(404),
    "internal": Fault.status(500),
    "overloaded": Fault.status(503),
}
_BROKEN: dict[Trouble, Fault] = {
    "reset": Fault.reset(),
    "lost": Fault.lost(),
    "cut_off": Fault.truncated(),
    "garbled": Fault.truncated("clean"),
    "prompt_blocked": Fault.prompt_blocked(),
    "answer_blocked": Fault.answer_blocked(),
    "max_tokens": Fault.max_tokens(),
    "stream_closed": Fault.truncated("closed"),
    "stream_reset": Fault.truncated("reset"),
    "stream_unfinished": Fault.truncated("clean"),
}
