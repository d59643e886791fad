"""`video_clip`."""

from __future__ import annotations

from vr_kernel import CALLS_OUT, READ_ONLY, Call, tool

from vr_plugin_video.arguments import End, MediaPath, Start, VideoUrl
from vr_plugin_video.models import ClipFormat, VideoClip


@tool(
    effects=READ_ONLY | CALLS_OUT,
    long=True,
    words="cut out a part of a film; save minute 3 to 4 as a file of its own; trim or shorten a"
    " recording; make a gif of this moment; an animation from a screencast; extract the sound or"
    " audio track as mp3; a frame, still or screenshot at 12:30; grab the picture shown at a"
    " time; evidence clip for a quote; excerpt or highlight to share; snippet of a talk; the"
    " passage as an mp4; thumbnail at a given second; convert a part of a video to audio; only"
    " the audio from 2:10 until 2:48; I need just the solo or the goal; cut the boring beginning"
    " off; only the scene in which she laughs, as a file; ringtone from a song; a short piece"
    " for social media; save the picture at minute 7; a still of the very moment for my slides;"
    " give me only the last minute; loop of the jump; the joke as a short video to send around;"
    " crop the intro away; a jpg of what one sees at 45 seconds; save her answer as audio; take"
    " 20 seconds from the middle; extract the music; a still image at 1:15; trim the first"
    " seconds off; a jpeg of 3:07; splice, crop and extract; a fragment from 1:00 to 1:30;"
    " isolate her answer; photo of the finish line; clip the funny bit; mp3 of the chorus;"
    " export a segment",
)
async def video_clip(
    call: Call,
    url: VideoUrl | None = None,
    file_path: MediaPath | None = None,
    start: Start | None = None,
    end: End | None = None,
    format: ClipFormat = "mp4",  # noqa: A002 - the client's name for it
) -> VideoClip:
    """Cut a part of a video into a file: film, animation, sound, or the picture at `start`."""
    from vr_plugin_video.clips.cutting import clip_of
    from vr_plugin_video.sources import open_source
    from vr_plugin_video.times import parse_window

    window = parse_window(start, None if format == "jpg" else end)
    async with open_source(call.services, url, file_path, download=True) as source:
        return await clip_of(call, source, window, format)
