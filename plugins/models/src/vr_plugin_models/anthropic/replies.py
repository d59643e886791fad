"""Reads an answer of the Messages API: whole, or event by event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vr_kernel import Code, Reply, ToolCall, Usage, VrError

from vr_plugin_models.outcomes import count_of, cut_off, refused

_THOUGHTS = frozenset({"thinking", "redacted_thinking"})
_ADDED = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
"""Kinds of deltas, each with the field that it adds to."""


class ClaudeReading:
    """An answer that arrives in one body or in many events.

    Its methods raise KeyError, TypeError, ValueError or AttributeError for what is in another form.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._answered_by = model
        self._blocks: dict[int, dict[str, Any]] = {}
        self._counts: dict[str, Any] = {}
        self._stop = ""

    @property
    def text(self) -> str:
        """The words so far."""
        return "".join(b["text"] for _, b in sorted(self._blocks.items()) if b["type"] == "text")

    @property
    def is_finished(self) -> bool:
        """True when a reason for the end was given."""
        return bool(self._stop)

    @property
    def has_usage(self) -> bool:
        """True when the service reported its usage."""
        counts = (self._counts.get("input_tokens"), self._counts.get("output_tokens"))
        return None not in map(count_of, counts)

    def take_whole(self, message: Mapping[str, Any]) -> None:
        """Read a whole message."""
        self._take_head(message)
        self._blocks = {at: dict(block) for at, block in enumerate(message["content"])}
        self._stop = str(message.get("stop_reason") or "")

    def take(self, event: Mapping[str, Any]) -> str:
        """Read an event of a stream, and return the words that it adds."""
        kind = event["type"]
        if kind == "message_start":
            self._take_head(event["message"])
        elif kind == "content_block_start":
            self._blocks[event["index"]] = {"partial_json": "", **event["content_block"]}
            return str(event["content_block"].get("text") or "")
        elif kind == "content_block_delta":
            return self._take_delta(self._blocks[event["index"]], event["delta"])
        elif kind == "message_delta":
            self._stop = str(event["delta"].get("stop_reason") or "") or self._stop
            self._counts |= _known(event.get("usage"))
        return ""

    def reply(self) -> Reply:
        """The whole answer.

        Raises:
            VrError: NOT_ALLOWED or TOO_LARGE by its reason for ending, with its cost.
        """
        usage = self._usage()
        if self._stop == "refusal":
            raise refused(self._model, usage)
        if self._stop == "max_tokens":
            raise cut_off(self._model, usage, self.text)
        if self._stop == "model_context_window_exceeded":
            raise _too_large(self._model, usage)
        blocks = [block for _, block in sorted(self._blocks.items())]
        thoughts = [_bare(block) for block in blocks if block["type"] in _THOUGHTS]
        calls = [_call(block) for block in blocks if block["type"] == "tool_use"]
        state = {"thoughts": thoughts} if thoughts and calls else None
        return Reply(text=self.text, model=self._answered_by, usage=usage, calls=calls, state=state)

    def _take_head(self, message: Mapping[str, Any]) -> None:
        self._answered_by = str(message.get("model") or self._model)
        self._counts |= _known(message.get("usage"))

    def _take_delta(self, block: dict[str, Any], delta: Mapping[str, Any]) -> str:
        field = _ADDED.get(delta["type"])
        if field is None:
            return ""
        block[field] = block.get(field, "") + delta[field]
        return str(delta["text"]) if field == "text" else ""

    def _usage(self) -> Usage:
        counts = self._counts
        kept = _number(counts, "cache_read_input_tokens")
        written = _number(counts, "cache_creation_input_tokens")
        details = counts.get("output_tokens_details") or {}
        thought = min(_number(details, "thinking_tokens"), _number(counts, "output_tokens"))
        return Usage(
            calls=1,
            input_tokens=_number(counts, "input_tokens") + kept + written,
            output_tokens=_number(counts, "output_tokens") - thought,
            thinking_tokens=thought,
            cached_tokens=kept,
            written_tokens=written,
        )


def _known(usage: Any) -> dict[str, Any]:
    return {k: v for k, v in usage.items() if v is not None} if isinstance(usage, Mapping) else {}


def _number(counts: Any, name: str) -> int:
    return (count_of(counts.get(name)) if isinstance(counts, Mapping) else None) or 0


def _bare(block: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != "partial_json"}


def _call(block: Mapping[str, Any]) -> ToolCall:
    arguments = block.get("partial_json") or block.get("input") or {}
    return ToolCall.read(str(block.get("id") or ""), str(block.get("name") or ""), arguments)


def _too_large(model: str, usage: Usage) -> VrError:
    error = VrError(
        f"The request and the answer are larger than the window of {model}.",
        Code.TOO_LARGE,
        category="CONTEXT_EXCEEDED",
        hint="Send less at once, or name a model with a larger window in [models].",
    )
    error.usage = usage
    return error
