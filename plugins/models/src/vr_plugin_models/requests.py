"""Requests by their words and their size, for estimates."""

from __future__ import annotations

import json

from vr_kernel import Media, Request, Text, ToolCall, ToolResult, estimate_tokens

PICTURE_TOKENS = 1_600
"""Most tokens of a picture that services scale down. Source: "Vision" of Anthropic's documentation;
OpenAI counts 1,105 for 1,024 pixels in high detail."""


def said(request: Request) -> str:
    """All words of a request, for estimates."""
    words = [request.system, json.dumps(request.schema) if request.schema else ""]
    words += [json.dumps(tool.identity) for tool in request.tools]
    for turn in request.turns:
        words += [_words(part) for part in turn.parts]
    return "\n".join(filter(None, words))


def tokens_of(request: Request) -> int:
    """The tokens of a request, estimated."""
    parts = [part for turn in request.turns for part in turn.parts]
    pictures = sum(isinstance(part, Media) and part.kind == "image" for part in parts)
    return estimate_tokens(said(request)) + pictures * PICTURE_TOKENS


def _words(part: object) -> str:
    if isinstance(part, Text):
        return part.text
    if isinstance(part, ToolResult):
        return part.content
    return json.dumps(part.identity) if isinstance(part, ToolCall) else ""
