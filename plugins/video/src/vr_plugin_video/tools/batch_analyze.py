"""`video_batch_analyze`."""

from __future__ import annotations

import asyncio
from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, READ_ONLY, Call, VrError, check_schema, tool

from vr_plugin_video.arguments import (
    DEFAULT_INSTRUCTION,
    DEFAULT_THINKING,
    EngineChoice,
    OutputSchema,
    ThinkingLevel,
    check_instruction,
)
from vr_plugin_video.batch.results import BatchVideoResult


@tool(
    effects=READ_ONLY | CALLS_OUT,
    long=True,
    words="analyse all videos in a folder; summarise every recording of last week; go through a"
    " whole playlist; process many files at once; all lectures of a course; a directory of"
    " meetings; each mp4 in Downloads; bulk video analysis; how much would it cost to watch them"
    " all; the same question about every clip; extract the same fields from many videos;"
    " overview of a video archive; the same analysis for a dozen clips; work through all"
    " recordings on the disk; summaries of the whole season; check each of these files for one"
    " topic; hundreds of videos overnight; skip those that are done already; one summary per"
    " file; estimate the price before the lot is watched; every episode of a series, one after"
    " the other; take all the talks of a conference; watch everything in a directory; twenty"
    " interviews, each with the same questions; are there cats in any of these films; a table"
    " with one line per recording; summarise all the lectures of this term; handle the complete"
    " folder; the three newest videos of the list; go over every recording and collect the"
    " action items; watch all these links; analyse the rest of the folder; forty lectures, a"
    " summary of each; run the same prompt over a directory; analyse my whole archive; every"
    " video that lies there; fourteen screen recordings, tell me for each one where it fails; go"
    " through them all; for every one of these files; several videos in one go; a whole"
    " semester; loop over a directory; each of my dashcam files; multiple recordings at once;"
    " collection of webinars; a pile of tapes",
)
async def video_batch_analyze(
    call: Call,
    directory: Annotated[str | None, Field(description="Folder of videos")] = None,
    url: Annotated[str | None, Field(description="YouTube playlist")] = None,
    instruction: str = DEFAULT_INSTRUCTION,
    glob_pattern: str = "*",
    output_schema: OutputSchema | None = None,
    thinking_level: ThinkingLevel = DEFAULT_THINKING,
    max_files: Annotated[int, Field(ge=1, le=50)] = 20,
    engine: EngineChoice = "auto",
    use_cache: bool = True,
    estimate_only: Annotated[bool, Field(description="Only tell the cost")] = False,
) -> BatchVideoResult:
    """Watch all videos of a folder or playlist; each is kept as it is done."""
    from vr_plugin_video.analyses.asked import Asked
    from vr_plugin_video.batch.fitting import fitted
    from vr_plugin_video.batch.order import Order
    from vr_plugin_video.batch.running import run_batch

    check_instruction(instruction)
    if output_schema:
        await asyncio.to_thread(check_schema, output_schema)
    asked = Asked(instruction, output_schema, thinking_level, None, None)
    order = Order(directory or "", url or "", glob_pattern, max_files, asked, engine, use_cache)
    order.check()
    result = await run_batch(call, order, estimate_only=estimate_only)
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
