"""The part of a request that fits the context of a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vr_testing.ollama.request import OllamaRequest
from vr_testing.service.bill import CHARS_PER_TOKEN


def without_first(request: OllamaRequest, tokens: int) -> OllamaRequest:
    """The chat without that many tokens of its first messages; its instruction stays."""
    cut = max(0, tokens) * CHARS_PER_TOKEN
    left: list[dict[str, Any]] = []
    for message in request.messages:
        words = message.get("content") or ""
        if message["role"] == "system":
            left.append({**message})
        elif not cut or cut < len(words):
            left.append({**message, "content": words[cut:]})
            cut = 0
        else:
            cut -= len(words)
    return replace(request, body={**request.body, "messages": left})
