"""`content_extract`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import WithJsonSchema
from vr_kernel import CALLS_OUT, PAID, READ_ONLY, Call, tool

from vr_plugin_content.arguments import (
    DEFAULT_THINKING,
    Password,
    ThinkingLevel,
    check_instruction,
    require_one,
)
from vr_plugin_content.results.extraction import ContentExtraction

Schema = Annotated[
    dict[str, Any],
    WithJsonSchema({"type": "object", "description": "JSON Schema"}),
]


@tool(effects=READ_ONLY | CALLS_OUT | PAID, long=True)
async def content_extract(
    call: Call,
    schema: Schema,
    content: str | None = None,
    file_path: str | None = None,
    url: str | None = None,
    instruction: str = "",
    thinking_level: ThinkingLevel = DEFAULT_THINKING,
    strict: bool = False,
    use_cache: bool = True,
    password: Password | None = None,
) -> ContentExtraction:
    """Extract data of a document in the form of a schema, each value with its checked quote."""
    from vr_plugin_content.analyses.answering import AnalysisSource
    from vr_plugin_content.extraction.extracting import extract
    from vr_plugin_content.extraction.request import ExtractionRequest, require_schema

    require_one(content=content, file_path=file_path, url=url)
    check_instruction(instruction)
    await require_schema(schema)
    given = password.get_secret_value() if password else ""
    source = AnalysisSource(file_path or "", url or "", content, given)
    request = ExtractionRequest(schema, instruction, thinking_level)
    return await extract(call, source, request, use_cache=use_cache, strict=strict)
