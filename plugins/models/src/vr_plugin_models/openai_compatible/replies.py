"""Reads an answer of an OpenAI-compatible service: whole, or chunk by chunk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vr_kernel import Reply, ToolCall, Usage

from vr_plugin_models.outcomes import count_of, cut_off, refused

MOST_DOLLARS = 1_000_000
"""Most that one request may be said to cost; a service that says more is at fault."""
_WHOLE = frozenset({"stop", "tool_calls", "function_call", "eos", "end_turn", "stop_sequence"})
_CUT = frozenset({"length", "max_tokens", "model_length"})


class Reading:
    """An answer that arrives in one body or in many chunks.

    Its methods raise KeyError, TypeError, ValueError or AttributeError for what is in another form
    than OpenAI's.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._answered_by = model
        self._texts: list[str] = []
        self._refusals: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}
        self._finish = ""
        self.usage: Usage | None = None

    @property
    def text(self) -> str:
        """The words so far."""
        return "".join(self._texts)

    @property
    def is_finished(self) -> bool:
        """True when a reason for the end was given."""
        return bool(self._finish)

    def take(self, body: Mapping[str, Any], key: str = "message") -> str:
        """Read a body or a chunk, and return the words that it adds.

        Args:
            body: as JSON.
            key: where the words are: `message`, or in chunks `delta`.
        """
        if usage := usage_of(body.get("usage")):
            self.usage = usage
        if body.get("model"):
            self._answered_by = str(body["model"])
        choices = body["choices"]
        if not isinstance(choices, list):
            raise TypeError("choices are a list")
        if not choices:
            return ""
        choice = choices[0]
        said = choice.get(key) or {}
        text = _words(said.get("content"))
        self._texts.append(text)
        if said.get("refusal"):
            self._refusals.append(str(said["refusal"]))
        for at, call in enumerate(said.get("tool_calls") or []):
            self._take_call(call, at)
        self._finish = choice.get("finish_reason") or self._finish
        return text

    def reply(self) -> Reply:
        """The whole answer.

        Raises:
            VrError: NOT_ALLOWED or TOO_LARGE by its reason for ending, with its cost.
        """
        usage = self.usage or Usage(calls=1)
        if self._refusals or self._finish == "content_filter":
            raise refused(self._model, usage, "".join(self._refusals).rstrip("."))
        if self._finish in _CUT:
            raise cut_off(self._model, usage, self.text)
        calls = [
            ToolCall.read(call["id"], call["name"], call["arguments"] or "{}")
            for _, call in sorted(self._calls.items())
        ]
        return Reply(text=self.text, model=self._answered_by, usage=usage, calls=calls)

    def _take_call(self, call: Mapping[str, Any], at: int) -> None:
        index = call.get("index")
        made = self._calls.setdefault(
            at if index is None else int(index), {"id": "", "name": "", "arguments": ""}
        )
        function = call.get("function") or {}
        made["id"] = made["id"] or str(call.get("id") or "")
        made["name"] = made["name"] or str(function.get("name") or "")
        made["arguments"] += str(function.get("arguments") or "")


def usage_of(found: Any) -> Usage | None:
    """The usage that a service reports; None for none, and for one in another form."""
    if not isinstance(found, Mapping):
        return None
    asked, answered = (
        count_of(found.get("prompt_tokens")),
        count_of(found.get("completion_tokens", 0)),
    )
    if asked is None or answered is None:
        return None
    thought = _count(found.get("completion_tokens_details"), "reasoning_tokens")
    return Usage(
        calls=1,
        input_tokens=asked,
        output_tokens=answered - thought if thought <= answered else answered,
        thinking_tokens=thought,
        cached_tokens=min(asked, _count(found.get("prompt_tokens_details"), "cached_tokens")),
        cost_usd=_charged(found),
    )


def _charged(found: Mapping[str, Any]) -> float | None:
    """The dollars that a service names; with the user's key at its own source, those there, too."""
    cost = _dollars(found.get("cost"))
    if cost is None or not found.get("is_byok"):
        return cost
    details = found.get("cost_details")
    there = _dollars(details.get("upstream_inference_cost")) if isinstance(details, dict) else None
    return None if there is None else cost + there


def _dollars(cost: Any) -> float | None:
    return float(cost) if type(cost) in {int, float} and 0 <= cost <= MOST_DOLLARS else None


def _count(details: Any, name: str) -> int:
    return (count_of(details.get(name)) if isinstance(details, Mapping) else None) or 0


def _words(content: Any) -> str:
    """The words of a content: a text, or parts of which some are text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part.get("type") == "text")
