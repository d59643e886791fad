"""A request as the body of a chat completion."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vr_kernel import Media, Request, Text, ToolCall, ToolResult, ToolSpec, Turn

from vr_plugin_models.media import in_base64, read_text, unsupported
from vr_plugin_models.openai_compatible.dialect import Dialect

TAKES = "text and images"
_IN_WORDS = "Answer with one JSON value and nothing else. It must fit this JSON schema:\n"


async def chat_body(model: str, request: Request, dialect: Dialect) -> dict[str, Any]:
    """The body, in the dialect that the model understands."""
    system = request.system
    body: dict[str, Any] = {"model": model}
    if request.schema is not None:
        body |= _response_format(request.schema, dialect)
        if dialect.schema != "native":
            system = f"{system}\n\n{_IN_WORDS}{json.dumps(request.schema)}".strip()
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    for turn in request.turns:
        messages += await _messages(turn, model)
    body["messages"] = messages
    if request.tools:
        body["tools"] = [_tool(each) for each in request.tools]
    if request.max_output_tokens is not None:
        body[dialect.limit_field] = request.max_output_tokens
    if request.temperature is not None and dialect.temperature:
        body["temperature"] = request.temperature
    if request.thinking is not None and dialect.effort:
        body["reasoning_effort"] = request.thinking
    return body


def _response_format(schema: Mapping[str, Any], dialect: Dialect) -> dict[str, Any]:
    if dialect.schema == "native":
        named = {"name": "answer", "schema": dict(schema)}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    if dialect.schema == "json":
        return {"response_format": {"type": "json_object"}}
    return {}


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.schema),
    }
    return {"type": "function", "function": function}


async def _messages(turn: Turn, model: str) -> list[dict[str, Any]]:
    if turn.speaker == "model":
        return [_of_model(turn)]
    results = [
        {"role": "tool", "tool_call_id": each.id, "content": _result(each)} for each in turn.results
    ]
    content = [
        await _content(part, model)
        for part in turn.parts
        if not isinstance(part, ToolResult | ToolCall)
    ]
    if not content:
        return results
    plain = "\n".join(part["text"] for part in content if part["type"] == "text")
    only_words = all(part["type"] == "text" for part in content)
    return [*results, {"role": "user", "content": plain if only_words else content}]


def _of_model(turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
            }
            for call in turn.calls
        ]
    return message


def _result(result: ToolResult) -> str:
    return f"Failed: {result.content}" if result.failed else result.content


async def _content(part: object, model: str) -> dict[str, Any]:
    """A part of a user's message.

    Raises:
        VrError: UNSUPPORTED for a file that is neither a picture nor text.
    """
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    assert isinstance(part, Media)
    if part.kind == "text" and part.file is not None:
        return {"type": "text", "text": await read_text(part)}
    if part.kind != "image":
        raise unsupported(part, model, TAKES)
    url = part.uri or f"data:{part.mime};base64,{await in_base64(part)}"
    return {"type": "image_url", "image_url": {"url": url}}
