"""`content_batch_analyze`."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from pydantic import Field
from vr_kernel import CALLS_OUT, PAID, READ_ONLY, Call, tool

from vr_plugin_content.arguments import (
    DEFAULT_INSTRUCTION,
    EngineChoice,
    OutputSchema,
    ThinkingLevel,
    check_instruction,
)
from vr_plugin_content.results.batch import BatchContentResult


@tool(effects=READ_ONLY | CALLS_OUT | PAID, long=True)
async def content_batch_analyze(
    call: Call,
    directory: str | None = None,
    file_paths: list[str] | None = None,
    instruction: str = DEFAULT_INSTRUCTION,
    glob_pattern: Annotated[str, Field(description="**/* for subfolders")] = "*",
    mode: Literal["compare", "individual"] = "compare",
    output_schema: OutputSchema | None = None,
    thinking_level: ThinkingLevel = "high",
    max_files: Annotated[int, Field(ge=1, le=100)] = 20,
    engine: EngineChoice = "auto",
    strict: bool = False,
    use_cache: bool = True,
    estimate_only: bool = False,
) -> BatchContentResult:
    """Compare documents, or analyse each; what is done is kept."""
    from vr_plugin_content.analyses.request import AnalysisRequest
    from vr_plugin_content.batch.fitting import fitted
    from vr_plugin_content.batch.request import BatchRequest
    from vr_plugin_content.batch.running import run_batch

    check_instruction(instruction)
    if output_schema:
        from vr_kernel import check_schema

        await asyncio.to_thread(check_schema, output_schema)
    analysis = AnalysisRequest(instruction, output_schema or None, thinking_level)
    request = BatchRequest(
        directory=directory or "",
        file_paths=file_paths or (),
        pattern=glob_pattern,
        most=max_files,
        mode=mode,
        analysis=analysis,
        engine=engine,
        strict=strict,
        use_cache=use_cache,
    )
    request.check()
    return await fitted(call, await run_batch(call, request, estimate_only=estimate_only))
