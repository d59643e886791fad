"""`content_extract`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema
from vr_kernel import CALLS_OUT, PAID, READ_ONLY, Call, tool

from vr_plugin_content.arguments import (
    DEFAULT_THINKING,
    FilePath,
    Instruction,
    Password,
    Strict,
    ThinkingLevel,
    Url,
    check_instruction,
    require_one,
)
from vr_plugin_content.extraction.results import ContentExtraction

Schema = Annotated[
    dict[str, Any],
    WithJsonSchema({"type": "object", "description": "JSON Schema of data"}),
]


@tool(effects=READ_ONLY | CALLS_OUT | PAID, long=True)
async def content_extract(
    call: Call,
    schema: Schema,
    content: Annotated[str | None, Field(description="The text itself")] = None,
    file_path: FilePath | None = None,
    url: Url | None = None,
    instruction: Instruction = "",
    thinking_level: ThinkingLevel = DEFAULT_THINKING,
    strict: Strict = False,
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
