"""`content_analyze`."""

from __future__ import annotations

import asyncio

from vr_kernel import CALLS_OUT, PAID, READ_ONLY, Call, tool

from vr_plugin_content.arguments import (
    DEFAULT_INSTRUCTION,
    DEFAULT_THINKING,
    EngineChoice,
    FilePath,
    OutputSchema,
    Password,
    Strict,
    ThinkingLevel,
    Url,
    check_instruction,
    require_one,
)
from vr_plugin_content.results.analysis import ContentAnalysis


@tool(effects=READ_ONLY | CALLS_OUT | PAID, long=True, core=True)
async def content_analyze(
    call: Call,
    file_path: FilePath | None = None,
    url: Url | None = None,
    text: str | None = None,
    instruction: str = DEFAULT_INSTRUCTION,
    output_schema: OutputSchema | None = None,
    thinking_level: ThinkingLevel = DEFAULT_THINKING,
    engine: EngineChoice = "auto",
    strict: Strict = False,
    use_cache: bool = True,
    password: Password | None = None,
) -> ContentAnalysis:
    """Read a document, page, picture or text: summary and key points with checked quotes."""
    from vr_plugin_content.analyses.answering import AnalysisSource, answer
    from vr_plugin_content.analyses.request import AnalysisRequest

    require_one(file_path=file_path, url=url, text=text)
    check_instruction(instruction)
    if output_schema:
        from vr_kernel import check_schema

        await asyncio.to_thread(check_schema, output_schema)
    given = password.get_secret_value() if password else ""
    source = AnalysisSource(file_path or "", url or "", text, given)
    request = AnalysisRequest(instruction, output_schema or None, thinking_level)
    return await answer(call, source, request, engine=engine, use_cache=use_cache, strict=strict)
