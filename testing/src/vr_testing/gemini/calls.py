"""Function calls of the fake model: signed like those of Gemini 3, and checked on their return."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vr_testing.gemini.errors import ApiError
from vr_testing.gemini.request import RecordedRequest, content_parts, look_up
from vr_testing.service.answer import FunctionCall

UNSIGNED = "skip_thought_signature_validator"
"""A signature that passes for any call; the service documents it for calls of other models."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_TYPES = {"object", "array", "string", "number", "integer", "boolean", "null"}
_MISSING = (
    "Function call is missing a thought_signature in functionCall parts. This is required for tools"
    " to work correctly, and missing thought_signature may lead to degraded model performance."
    " Additional data, function call `default_api:{name}` , position {position}. Please refer to"
    " https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
)
_COUNT = (
    "Please ensure that the number of function response parts is equal to the number of function"
    " call parts of the function call turn."
)


def call_parts(calls: Sequence[FunctionCall], *, signed: bool) -> list[dict[str, Any]]:
    """The parts of a reply's calls, the first of them signed."""
    parts: list[dict[str, Any]] = [{"functionCall": call.shown} for call in calls]
    if parts and signed:
        parts[0]["thoughtSignature"] = signature_of(parts[0])
    return parts


def signature_of(part: Mapping[str, Any]) -> str:
    """The signature of a part: it fits no other."""
    call = look_up(part, "functionCall")
    said = part.get("text", "") if call is None else [call["name"], look_up(call, "args") or {}]
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).digest()
    return base64.b64encode(b"fake signature " + digest).decode()


def check_calls(request: RecordedRequest, *, signed: bool) -> None:
    """Refuse what Gemini 3 refuses about declarations, calls, results and signatures.

    Raises:
        ApiError: 400.
    """
    _check_declarations(request)
    contents = [each for each in _contents(request) if content_parts(each)]
    _check_results(contents)
    current = _current_turn(contents)
    for position, content in enumerate(contents):
        calls = [part for part in content_parts(content) if look_up(part, "functionCall")]
        if signed and position >= current and calls and not look_up(calls[0], "thoughtSignature"):
            name = look_up(calls[0], "functionCall")["name"]
            raise ApiError(400, _MISSING.format(name=name, position=position + 1))
        for part in content_parts(content):
            found = look_up(part, "thoughtSignature")
            if found and _plain(found) not in {_plain(UNSIGNED), _plain(signature_of(part))}:
                raise ApiError(400, "Thought signature is not valid.")


def _check_declarations(request: RecordedRequest) -> None:
    names: set[str] = set()
    for tool in request.functions:
        name = str(tool.get("name", ""))
        if not _NAME.fullmatch(name):
            raise ApiError(
                400,
                f"* GenerateContentRequest.tools[0].function_declarations[{len(names)}].name:"
                " Invalid function name. Must start with a letter or an underscore.",
            )
        if name in names:
            raise ApiError(400, f"Duplicate function declaration found: {name}")
        names.add(name)
        for kind in _kinds(look_up(tool, "parametersJsonSchema")):
            if kind not in _TYPES:
                raise ApiError(400, f"Invalid JSON schema of {name}: unknown type {kind!r}.")
    if names and request.cached_content:
        raise ApiError(
            400,
            "CachedContent can not be used with GenerateContent request setting"
            " system_instruction, tools or tool_config.",
        )


def _check_results(contents: Sequence[Any]) -> None:
    asked: list[Any] = []
    for content in contents:
        answered = [_of(part, "functionResponse") for part in content_parts(content)]
        answered = [each for each in answered if each is not None]
        if sorted(map(str, asked)) != sorted(map(str, answered)):
            raise ApiError(400, _COUNT)
        called = [_of(part, "functionCall") for part in content_parts(content)]
        asked = [each for each in called if each is not None]
    if asked:
        raise ApiError(400, _COUNT)


def _current_turn(contents: Sequence[Any]) -> int:
    """The position after the last content in which the user said something."""
    said = [
        position
        for position, content in enumerate(contents)
        if look_up(content, "role", "user") == "user"
        and not any(look_up(part, "functionResponse") for part in content_parts(content))
    ]
    return said[-1] + 1 if said else 0


def _of(part: Mapping[str, Any], kind: str) -> tuple[str, str] | None:
    """Name and id of a call or a result."""
    found = look_up(part, kind)
    return None if found is None else (str(found.get("name")), str(found.get("id", "")))


def _contents(request: RecordedRequest) -> list[Any]:
    found = look_up(request.generation, "contents")
    return found if isinstance(found, list) else [found]


def _kinds(schema: Any) -> Iterator[str]:
    """Every name of a type in a schema."""
    if isinstance(schema, Mapping):
        kind = schema.get("type")
        yield from kind if isinstance(kind, list) else [kind] if isinstance(kind, str) else []
        for name, inner in schema.items():
            if name == "properties" and isinstance(inner, Mapping):
                for each in inner.values():
                    yield from _kinds(each)
            elif name in {"items", "anyOf", "additionalProperties"}:
                yield from _kinds(inner)
    elif isinstance(schema, list):
        for each in schema:
            yield from _kinds(each)


def _plain(signature: str) -> str:
    """Base64 of either alphabet, without padding."""
    return signature.replace("-", "+").replace("_", "/").rstrip("=")
