"""The JSON of a model's answer: whole, or in the pieces of a stream."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vr_kernel.generation import Usage

from vr_testing.gemini.bill import usage_metadata
from vr_testing.gemini.calls import call_parts, signature_of
from vr_testing.gemini.request import RecordedRequest, look_up
from vr_testing.service.answer import Answer, in_pieces
from vr_testing.service.bill import CHARS_PER_TOKEN, text_tokens

_ADDRESS = re.compile(r"https?://[^\s)>\]\"']+")
_SEARCHED = (("A page of the fake search", "https://example.com/fake-search"),)
_WITHHELD = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"})


def within_limit(answer: Answer, request: RecordedRequest) -> Answer:
    """The answer, cut where `maxOutputTokens` says."""
    limit = look_up(request.config, "maxOutputTokens")
    if limit is None or text_tokens(answer.text) <= int(limit):
        return answer
    text = answer.text[: int(limit) * CHARS_PER_TOKEN]
    return replace(answer, text=text, finish="MAX_TOKENS", calls=())


def room_for_thinking(answer: Answer, request: RecordedRequest) -> float:
    """The tokens that `maxOutputTokens` leaves for thinking."""
    limit = look_up(request.config, "maxOutputTokens")
    return math.inf if limit is None else max(0, int(limit) - text_tokens(answer.text))


def whole(
    answer: Answer, request: RecordedRequest, usage: Usage, *, signs_calls: bool
) -> dict[str, Any]:
    """The body of `generateContent`."""
    if answer.blocked:
        return _envelope(request, usage) | {"promptFeedback": {"blockReason": answer.blocked}}
    said: list[dict[str, Any]] = [{"text": answer.text}] if answer.text else []
    if said and answer.signed:
        said[0]["thoughtSignature"] = signature_of(said[0])
    parts = [*_thought(answer), *said, *call_parts(answer.calls, signed=signs_calls)]
    last = _candidate(answer, request, parts)
    return {"candidates": [last], **_envelope(request, usage)}


def pieces(
    answer: Answer, request: RecordedRequest, usage: Usage, *, signs_calls: bool
) -> list[dict[str, Any]]:
    """The events of `streamGenerateContent`; the last has the finish reason and the whole usage."""
    if answer.blocked or not (answer.text or answer.calls):
        return [whole(answer, request, usage, signs_calls=signs_calls)]
    texts = in_pieces(answer.text)
    parts = [*_thought(answer), *({"text": text} for text in texts)]
    parts += call_parts(answer.calls, signed=signs_calls)
    if answer.signed:
        parts.append({"text": "", "thoughtSignature": signature_of({"text": ""})})
    soon = usage.model_copy(update={"output_tokens": 0, "thinking_tokens": 0})
    events = [
        {"candidates": [{"content": _content([part]), "index": 0}], **_envelope(request, soon)}
        for part in parts[:-1]
    ]
    last = _candidate(answer, request, parts[-1:])
    return [*events, {"candidates": [last], **_envelope(request, usage)}]


def _candidate(
    answer: Answer, request: RecordedRequest, parts: list[dict[str, Any]]
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"finishReason": answer.finish, "index": 0}
    if answer.finish in _WITHHELD:
        rating = {"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH"}
        return candidate | {"safetyRatings": [rating | {"blocked": True}]}
    candidate["content"] = _content(parts)
    if sources := answer.sources or (_SEARCHED if request.has_tool("googleSearch") else ()):
        candidate["groundingMetadata"] = _grounding(answer, sources, request)
    if request.has_tool("urlContext"):
        candidate["urlContextMetadata"] = {"urlMetadata": _retrieved(request.text)}
    return candidate


def _content(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"role": "model", **({"parts": parts} if parts else {})}


def _thought(answer: Answer) -> list[dict[str, Any]]:
    return [{"text": answer.thought, "thought": True}] if answer.thought else []


def searches_of(answer: Answer, request: RecordedRequest) -> tuple[str, ...]:
    """The searches of the web that an answer took, where it might search."""
    return (answer.queries or (request.text[:60],)) if request.has_tool("googleSearch") else ()


def _grounding(
    answer: Answer, sources: tuple[tuple[str, str], ...], request: RecordedRequest
) -> dict[str, Any]:
    text = answer.text
    return {
        "webSearchQueries": [*searches_of(answer, request)],
        "groundingChunks": [{"web": {"title": title, "uri": url}} for title, url in sources],
        "groundingSupports": [
            {
                "segment": {"endIndex": len(text.encode()), "text": text},
                "groundingChunkIndices": list(range(len(sources))),
            }
        ],
        "searchEntryPoint": {"renderedContent": "<div></div>"},
    }


def _retrieved(text: str) -> list[Mapping[str, str]]:
    status = "URL_RETRIEVAL_STATUS_SUCCESS"
    return [{"retrievedUrl": url, "urlRetrievalStatus": status} for url in _ADDRESS.findall(text)]


def _envelope(request: RecordedRequest, usage: Usage) -> dict[str, Any]:
    return {
        "usageMetadata": usage_metadata(usage),
        "modelVersion": request.model,
        "responseId": "fake-response",
    }
