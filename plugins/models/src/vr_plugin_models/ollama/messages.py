"""A request as the body of Ollama's chat."""

from __future__ import annotations

from typing import Any

from vr_kernel import Media, Request, Text, ThinkingLevel, ToolCall, ToolResult, Turn

from vr_plugin_models.media import in_base64, read_text, unsupported

TAKES = "text and images"
BY_LEVEL = "gpt-oss"
"""The models that take a level of thinking; all others only take whether to think."""


async def chat_fields(
    model: str, request: Request, *, context: int, thinks: bool
) -> dict[str, Any]:
    """The arguments of a chat.

    Args:
        model: that is asked.
        request: what is asked.
        context: the length of the context, in tokens.
        thinks: whether the model can think.
    """
    options: dict[str, Any] = {"num_ctx": context}
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if request.max_output_tokens is not None:
        options["num_predict"] = request.max_output_tokens
    messages: list[dict[str, Any]] = []
    if request.system:
        messages.append({"role": "system", "content": request.system})
    names = {call.id: call.name for turn in request.turns for call in turn.calls}
    for turn in request.turns:
        messages += await _messages(turn, model, names)
    fields: dict[str, Any] = {"model": model, "messages": messages, "options": options}
    if request.schema is not None:
        fields["format"] = dict(request.schema)
    if request.tools:
        fields["tools"] = [_tool(each.identity) for each in request.tools]
    if thinks and request.thinking is not None:
        fields["think"] = _think(model, request.thinking)
    return fields


def _think(model: str, level: ThinkingLevel) -> bool | str:
    if BY_LEVEL in model:
        return "low" if level == "minimal" else level
    return level != "minimal"


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    function = {name: tool[name] for name in ("name", "description")}
    return {"type": "function", "function": {**function, "parameters": tool["schema"]}}


async def _messages(turn: Turn, model: str, names: dict[str, str]) -> list[dict[str, Any]]:
    if turn.speaker == "model":
        calls = [
            {"function": {"name": call.name, "arguments": dict(call.arguments)}}
            for call in turn.calls
        ]
        message: dict[str, Any] = {"role": "assistant", "content": turn.text}
        return [{**message, "tool_calls": calls} if calls else message]
    made: list[dict[str, Any]] = [
        {"role": "tool", "tool_name": names.get(each.id, ""), "content": _result(each)}
        for each in turn.results
    ]
    words, pictures = await _said(turn, model)
    if words or pictures:
        pictured: dict[str, Any] = {"images": pictures} if pictures else {}
        made.append({"role": "user", "content": "\n".join(words), **pictured})
    return made


async def _said(turn: Turn, model: str) -> tuple[list[str], list[str]]:
    """The words and the pictures of a turn.

    Raises:
        VrError: UNSUPPORTED for a file that is neither a picture nor text.
    """
    words, pictures = [], []
    for part in turn.parts:
        if isinstance(part, Text):
            words.append(part.text)
        elif isinstance(part, Media):
            if part.kind == "text" and part.file is not None:
                words.append(await read_text(part))
            elif part.kind == "image" and part.file is not None:
                pictures.append(await in_base64(part))
            else:
                raise unsupported(part, model, TAKES)
        else:
            assert isinstance(part, ToolCall | ToolResult)
    return words, pictures


def _result(result: ToolResult) -> str:
    return f"Failed: {result.content}" if result.failed else result.content
