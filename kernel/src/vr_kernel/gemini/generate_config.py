"""The settings of a request in Google's types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.gemini.catalogue import clamp, temper
from vr_kernel.gemini.tool_calls import declarations
from vr_kernel.generation import Request

if TYPE_CHECKING:
    from google.genai import types


def generate_config(
    model: str, request: Request, timeout_ms: int
) -> tuple[types.GenerateContentConfig, list[str]]:
    """The request's settings in Google's type, and what was changed in them."""
    from google.genai import types

    level, level_notes = clamp(model, request.thinking)
    temperature, temperature_notes = temper(model, request.temperature)
    tools = [types.Tool(google_search=types.GoogleSearch())] if request.search else []
    if request.url_context:
        tools.append(types.Tool(url_context=types.UrlContext()))
    if request.tools:
        tools.append(declarations(request.tools))
    thinking = (
        types.ThinkingConfig(thinking_level=types.ThinkingLevel(level.upper())) if level else None
    )
    config = types.GenerateContentConfig(
        system_instruction=request.system or None,
        temperature=temperature,
        max_output_tokens=request.max_output_tokens,
        response_mime_type="application/json" if request.schema is not None else None,
        response_json_schema=None if request.schema is None else dict(request.schema),
        thinking_config=thinking,
        tools=list(tools) or None,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        automatic_continuation=False,
        http_options=types.HttpOptions(timeout=timeout_ms),
    )
    return config, level_notes + temperature_notes
