"""`video_playlist`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, READ_ONLY, Call, tool

from vr_plugin_video.youtube.models import PlaylistInfo


@tool(
    effects=READ_ONLY | CALLS_OUT,
    words="which videos are in this playlist; list the episodes of a series or course; links of all"
    " lectures; how many videos does the playlist have; contents of a YouTube list; order of a"
    " tutorial series; videos to go through one by one; how many parts has the series; titles"
    " and links in a list; which lectures belong to the course on YouTube; what is in"
    " https://www.youtube.com/playlist?list=abc; first ten entries; the last episode of the"
    " list; is there a part three; which clips are in my watch later list; what does the whole"
    " course contain before I start; which entry of the list is about recursion; give me the"
    " URLs of all of them; enumerate the uploads without watching; names of all talks of a"
    " conference list; syllabus of a video course; how many videos and who put them together;"
    " list what is in the series; which talk in the list is by her; order in which to watch the"
    " course; all links in it; is my favourite lecture in that list; give the titles only;"
    " newest entry of the list; what comes after episode four; break a list up into single"
    " videos; which talks make up this YouTube list; what is on the list; titles of an album of"
    " videos; lineup of the list; entries and their lengths; what is queued in this series on"
    " YouTube; index of the course videos; URLs of the parts",
)
async def video_playlist(
    call: Call,
    url: Annotated[str, Field(description="YouTube link with list=")],
    max_items: Annotated[int, Field(ge=1, le=50)] = 20,
) -> PlaylistInfo:
    """List the videos of a YouTube playlist."""
    from vr_plugin_video.youtube.addresses import parse_url, playlist_id
    from vr_plugin_video.youtube.client import YouTube

    wanted = playlist_id(parse_url(url))
    call.progress(0, 1, "Asking YouTube")
    found = await call.services.providers.get(YouTube).playlist(wanted, max_items)
    hidden = sum(item.availability != "available" for item in found.items)
    limits = [f"{hidden} of the items are private or deleted."] if hidden else []
    return found.model_copy(update={"limits": [*found.limits, *limits]})
