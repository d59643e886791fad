"""`video_scenes`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, READ_ONLY, Call, tool

from vr_plugin_video.arguments import End, MediaPath, Start, VideoUrl
from vr_plugin_video.models import VideoScenes


@tool(
    effects=READ_ONLY | CALLS_OUT,
    long=True,
    words="slides of a presentation; screenshots of a video; a picture of every scene; still"
    " frames; where are the cuts and shots; split a film into scenes; text on the screen, read"
    " by OCR; what is written on the blackboard; storyboard; thumbnails and cover pictures; key"
    " frames as images; when does the slide change; export the deck that was shown; read the"
    " code or the signs in the picture; what does the diagram or dialog on the screen say;"
    " visual overview of a recording; address, name or label visible in an advert; pages and"
    " formulas of a lecture as images; what stands on the whiteboard; pictures of all the charts"
    " that were presented; the code shown on screen as text; how many shots does the advert"
    " have; how is the film edited; list the transitions; images of the pages that were"
    " projected; what does the banner read; number plate or price tag in the picture; pull the"
    " bullet points from each slide; contact sheet of the whole film; one image for each new"
    " view; formulas that were written on the board; turn the screencast into a series of"
    " pictures; commands that are typed in a screencast; put all slides into a folder; what does"
    " the menu on the screen offer; images of each slide from the webinar; extract the slides"
    " from a lecture; an error message in a screen recording, letter by letter; montage and"
    " camera angles; recognise printed letters in the frame; the PowerPoint that was presented,"
    " page by page; figures, plots and tables visible in a talk; caption of a sign; detect scene"
    " changes; gallery of pictures",
)
async def video_scenes(
    call: Call,
    url: VideoUrl | None = None,
    file_path: MediaPath | None = None,
    max_scenes: Annotated[int | None, Field(ge=1, le=200)] = None,
    ocr: bool = True,
    start: Start | None = None,
    end: End | None = None,
    use_cache: bool = True,
) -> VideoScenes:
    """List a video's slides or scenes: times, pictures, text on screen."""
    from vr_plugin_video.scenes import scenes_of
    from vr_plugin_video.sources import open_source
    from vr_plugin_video.times import parse_window

    window = parse_window(start, end)
    async with open_source(call.services, url, file_path, download=True) as source:
        return await scenes_of(call, source, window, max_scenes, ocr=ocr, use_cache=use_cache)
