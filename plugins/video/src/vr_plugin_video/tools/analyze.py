"""`video_analyze`."""

from __future__ import annotations

import asyncio
from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, READ_ONLY, Call, check_schema, tool

from vr_plugin_video.arguments import (
    DEFAULT_INSTRUCTION,
    DEFAULT_THINKING,
    Detail,
    End,
    EngineChoice,
    MediaPath,
    MediaResolution,
    OutputSchema,
    Start,
    ThinkingLevel,
    VideoUrl,
    check_instruction,
)
from vr_plugin_video.models import VideoAnalysis


@tool(
    effects=READ_ONLY | CALLS_OUT,
    long=True,
    core=True,
    words="summarise this video; what is this talk about; main points of a lecture; tell me what"
    " happens in the film; is it worth watching; I have no time to watch it; who appears in the"
    " footage and what do they do; what does the speaker recommend and why; answer a question"
    " about a recording; find the moment when something happens; chapters with timestamps; mood,"
    " tone and sentiment of the speaker; study notes from a webinar; decisions and action items"
    " of a recorded meeting; extract a table or JSON from a clip; list the products or people"
    " that are shown; steps of a tutorial or recipe; gist of a YouTube link; condense what they"
    " discuss from minute 5 to 10; review a demo or pitch and judge how convincing it is;"
    " explain what the user does in a screen recording; write a short description of a keynote;"
    " compare two recordings; check the claims that are made in a documentary; what is in"
    " talk.mp4, clip.mov or https://youtu.be/abc; what does the athlete do wrong; is it suitable"
    " for children; who wins and how; explain the experiment to me; summarize the talk in five"
    " sentences; I missed the stand-up, what was decided; what is the recording about; does the"
    " speaker sound positive or negative; make chapters for a podcast; does anybody wear a red"
    " hat in the film; look closely and count the cars; note where the participant of a"
    " usability test gets stuck; watch my presentation and give me feedback; find the point"
    " where the lecturer introduces a term; translate the gist into Spanish; is the tutorial up"
    " to date; what went wrong in the demo; make flash cards or a quiz from the lesson; which"
    " brands can be seen; describe the pictures for a blind person; who is responsible for what"
    " according to the meeting; how did the goal come about; the argument of a documentary in"
    " three paragraphs; a list of every animal in the file, as JSON; which objections are raised"
    " in the panel; at what time does the door open; which tools and ingredients are needed; who"
    " gives a speech at the wedding, and in which order; in this one file, when is the topic"
    " first mentioned; is the caller angry or calm; what do the two debaters disagree on; rate"
    " the acting; outline of a class for somebody who was ill; explain the trick that the"
    " magician does; is it an advertisement; what can I learn from this footage; answer with"
    " fields such as name, date and place; describe the room and the people; how does the story"
    " end; a review of the game film; a home video of the school play, does my child make a"
    " mistake; in plain English, what does the mechanic do; key takeaways of a file; what is"
    " this recording about and who speaks; is anything forgotten or missing in the procedure;"
    " how many people are in the room; what do they argue about; have a look at the file, whose"
    " fault is the accident; the most important sentences of a podcast; what is this recording"
    " about; synopsis, abstract or recap of a lecture; takeaways from a conference talk; TL; DR"
    " of a vlog; critique my pitch; is there blood or violence in it; evaluate a job interview;"
    " what is being sold and for how much; verdict of the test; body language and facial"
    " expressions; inspect the CCTV footage; timeline of the events; which exercises does the"
    " coach demonstrate; interpret the music video; plot of the movie",
)
async def video_analyze(
    call: Call,
    url: VideoUrl | None = None,
    file_path: MediaPath | None = None,
    instruction: Annotated[str, Field(description="Or: meeting")] = DEFAULT_INSTRUCTION,
    output_schema: OutputSchema | None = None,
    thinking_level: ThinkingLevel = DEFAULT_THINKING,
    use_cache: bool = True,
    start: Start | None = None,
    end: End | None = None,
    fps: Annotated[float | None, Field(gt=0, le=60)] = None,
    media_resolution: MediaResolution | None = None,
    engine: EngineChoice = "auto",
    detail: Detail = "brief",
) -> VideoAnalysis:
    """Watch a video: summary, key points and slides with times; makes it searchable."""
    from vr_plugin_video.analyses.analysing import analysis_of
    from vr_plugin_video.analyses.asked import Asked
    from vr_plugin_video.analyses.fitting import brief, full
    from vr_plugin_video.sources import open_source
    from vr_plugin_video.times import parse_window

    check_instruction(instruction)
    if output_schema:
        await asyncio.to_thread(check_schema, output_schema)
    window = parse_window(start, end)
    asked = Asked(instruction, output_schema, thinking_level, fps, media_resolution)
    async with open_source(call.services, url, file_path) as source:
        analysis = await analysis_of(
            call, source, window, asked, engine=engine, use_cache=use_cache
        )
        return await asyncio.to_thread(full if detail == "full" else brief, analysis)
