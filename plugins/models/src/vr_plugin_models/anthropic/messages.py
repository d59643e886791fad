"""A request as the body of Anthropic's Messages API."""

from __future__ import annotations

import json
from typing import Any

from vr_kernel import Media, Request, Text, ToolCall, ToolResult, Turn

from vr_plugin_models.anthropic.dialect import ClaudeDialect
from vr_plugin_models.media import in_base64, read_text, unsupported

TAKES = "text, images and PDF"
MOST_OUTPUT = 32_000
"""Most tokens of an answer where the request does not say; the service insists on a number."""
_IN_WORDS = "Answer with one JSON value and nothing else. It must fit this JSON schema:\n"


async def message_body(
    model: str, request: Request, dialect: ClaudeDialect, limit: int
) -> dict[str, Any]:
    """The body, in the dialect that the model understands.

    Args:
        model: that is asked.
        request: what is asked.
        dialect: of the model.
        limit: the most tokens of its answers; 0 when that is not known.
    """
    most = min(limit or MOST_OUTPUT, MOST_OUTPUT)
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": request.max_output_tokens or most,
        "messages": [await _message(turn, model) for turn in request.turns],
    }
    system = request.system
    if request.schema is not None and not dialect.schema:
        system = f"{system}\n\n{_IN_WORDS}{json.dumps(request.schema)}".strip()
    if system:
        body["system"] = system
    if request.tools:
        body["tools"] = [
            {"name": each.name, "description": each.description, "input_schema": dict(each.schema)}
            for each in request.tools
        ]
    return {**body, **dialect.thinking_fields(request, body["max_tokens"])}


async def _message(turn: Turn, model: str) -> dict[str, Any]:
    role = "assistant" if turn.speaker == "model" else "user"
    blocks = list((turn.state or {}).get("thoughts", ()))
    # Results come first: the service wants them right after the calls.
    parts = sorted(turn.parts, key=lambda part: not isinstance(part, ToolResult))
    blocks += [await _block(part, model) for part in parts if part != Text("")]
    return {"role": role, "content": blocks}


async def _block(part: object, model: str) -> dict[str, Any]:
    """A part of a message.

    Raises:
        VrError: UNSUPPORTED for a file that is neither a picture, nor PDF, nor text.
    """
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, ToolCall):
        call = {"id": part.id, "name": part.name, "input": dict(part.arguments)}
        return {"type": "tool_use", **call}
    if isinstance(part, ToolResult):
        result = {"tool_use_id": part.id, "content": part.content, "is_error": part.failed}
        return {"type": "tool_result", **result}
    assert isinstance(part, Media)
    return await _file(part, model)


async def _file(media: Media, model: str) -> dict[str, Any]:
    if media.kind == "text" and media.file is not None:
        return {"type": "text", "text": await read_text(media)}
    kinds = {"image": "image", "pdf": "document"}
    if media.kind not in kinds:
        raise unsupported(media, model, TAKES)
    if media.uri:
        return {"type": kinds[media.kind], "source": {"type": "url", "url": media.uri}}
    source = {"type": "base64", "media_type": media.mime, "data": await in_base64(media)}
    return {"type": kinds[media.kind], "source": source}
