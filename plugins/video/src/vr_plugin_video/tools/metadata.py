"""`video_metadata`."""

from __future__ import annotations

from vr_kernel import CALLS_OUT, READ_ONLY, Call, tool

from vr_plugin_video.arguments import YouTubeUrl
from vr_plugin_video.youtube.models import VideoMetadata


@tool(
    effects=READ_ONLY | CALLS_OUT,
    words="how many views and likes has this video; who published it and when; channel of a YouTube"
    " link; how long is the video; tags and category; description below the video; chapters that"
    " the uploader wrote; is it age restricted or blocked in a country; does it have subtitles;"
    " statistics of a clip; title and date for a citation; popularity; facts about an upload"
    " without watching it; how old is it; duration of a YouTube link; which channel made this;"
    " is it still available or private; how popular is it; licence and resolution; what the"
    " uploader wrote under it, with links; cite this YouTube video in a bibliography; how many"
    " thumbs up; how many people have seen it; may it be embedded; name of the uploader and day"
    " of publication; before I watch it, how long does it take; when did it go online; does the"
    " channel have many subscribers; are there captions; title and author of this link; keywords"
    " that were set; is it a live stream or a short; how well did the upload do; what is this"
    " link anyway, by whom; does it have chapters; number of likes; number of clicks or plays;"
    " who uploaded the song; the text in the description box; does this YouTube video still"
    " exist; creator, publishing date, length; hits and likes counter; is the clip region-"
    " locked; facts on the link for my reference list; category and hashtags; running time",
)
async def video_metadata(call: Call, url: YouTubeUrl) -> VideoMetadata:
    """Tell what YouTube says of a video: title, channel, counts, tags, chapters."""
    from vr_plugin_video.youtube.addresses import video_at
    from vr_plugin_video.youtube.metadata import metadata_of

    return await metadata_of(call, video_at(url))
