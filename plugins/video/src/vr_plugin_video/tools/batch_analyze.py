"""`video_batch_analyze`."""

from __future__ import annotations

import asyncio
from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, PAID, READ_ONLY, Call, VrError, tool

from vr_plugin_video.arguments import (
    DEFAULT_INSTRUCTION,
    DEFAULT_THINKING,
    Engine,
    Instruction,
    OutputSchema,
    ThinkingLevel,
    check_instruction,
)
from vr_plugin_video.batch.results import BatchVideoResult


@tool(effects=READ_ONLY | CALLS_OUT | PAID, long=True)
async def video_batch_analyze(
    call: Call,
    directory: Annotated[
        str | None, Field(description="Folder of videos; exactly one of directory, url")
    ] = None,
    url: Annotated[str | None, Field(description="YouTube playlist")] = None,
    instruction: Instruction = DEFAULT_INSTRUCTION,
    glob_pattern: Annotated[str, Field(description="**/* takes subfolders too")] = "*",
    output_schema: OutputSchema | None = None,
    thinking_level: ThinkingLevel = DEFAULT_THINKING,
    max_files: Annotated[int, Field(ge=1, le=50)] = 20,
    engine: Engine = "auto",
    use_cache: bool = True,
    estimate_only: Annotated[bool, Field(description="Only tell the cost")] = False,
) -> BatchVideoResult:
    """Watch all videos of a folder or playlist; each is kept as it is done."""
    from vr_plugin_video.analyses.request import AnalysisRequest
    from vr_plugin_video.batch.fitting import fitted
    from vr_plugin_video.batch.request import BatchRequest
    from vr_plugin_video.batch.running import run_batch

    check_instruction(instruction)
    if output_schema:
        from vr_kernel import check_schema

        await asyncio.to_thread(check_schema, output_schema)
    analysis = AnalysisRequest(instruction, output_schema, thinking_level, None, None)
    request = BatchRequest(
        directory or "", url or "", glob_pattern, max_files, analysis, engine, use_cache
    )
    request.check()
    result = await run_batch(call, request, estimate_only=estimate_only)
    cut = await asyncio.to_thread(fitted, result)
    if cut.items == result.items:
        return cut
    try:
        whole = await asyncio.to_thread(
            call.artifact, result.model_dump_json(indent=1).encode(), "application/json"
        )
    except VrError as error:
        return cut.model_copy(update={"limits": [*cut.limits, f"{error.message} {error.hint}"]})
    return cut.model_copy(update={"result_uri": whole.uri})
