"""The parts of a request in Google's types: inline up to 20 MB, uploaded above."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vr_kernel.errors import Code, VrError
from vr_kernel.gemini.catalogue import KNOWN
from vr_kernel.gemini.sources import Source
from vr_kernel.gemini.tool_calls import model_parts, result_part
from vr_kernel.generation import Media, Text, Turn

if TYPE_CHECKING:
    from google.genai import types

INLINE_BYTES = 20_000_000
"""Maximum total size of the files that are sent inside one request, in bytes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The files of a request that are uploaded; the others are sent inline."""

    large: tuple[Media, ...]

    def uploads(self, media: Media) -> bool:
        """Check if this one is uploaded."""
        return any(media is each for each in self.large)


def media_of(turns: Sequence[Turn]) -> list[Media]:
    """Every file and address of a conversation."""
    return [part for turn in turns for part in turn.parts if isinstance(part, Media)]


def plan(turns: Sequence[Turn]) -> Plan:
    """Decide which files go inline: in the order of the request, until it is full."""
    room, large = INLINE_BYTES, []
    for media in media_of(turns):
        if media.file is None:
            continue
        size = Source(media).size
        if size > room:
            large.append(media)
        else:
            room -= size
    return Plan(tuple(large))


def check_media(model: str, turns: Sequence[Turn]) -> None:
    """Check that the model takes every kind of media.

    Raises:
        VrError: UNSUPPORTED, category MEDIA_UNSUPPORTED.
    """
    if model not in KNOWN:
        return
    takes = KNOWN[model].info.accepts
    for media in media_of(turns):
        if media.kind not in takes:
            raise VrError(
                f"{model} does not take {media.kind}.",
                Code.UNSUPPORTED,
                category="MEDIA_UNSUPPORTED",
                hint=f"It takes {', '.join(sorted(takes))}.",
            )


async def contents(
    turns: Sequence[Turn], how: Plan, upload: Callable[[Media], Awaitable[str]]
) -> list[types.Content]:
    """The conversation in Google's types.

    Args:
        turns: the conversation.
        how: which files are uploaded.
        upload: gives the address of an uploaded file.
    """
    from google.genai import types

    made = []
    sent: dict[str, types.FunctionCall] = {}
    for turn in turns:
        if turn.speaker == "model" and (turn.calls or turn.state):
            parts = model_parts(turn, sent)
        else:
            said = [part for part in turn.parts if isinstance(part, Text | Media)]
            parts = [result_part(result, sent) for result in turn.results]
            parts += [await _part(part, how, upload) for part in said]
        made.append(types.Content(role=turn.speaker, parts=parts))
    return made


async def _part(
    part: Text | Media, how: Plan, upload: Callable[[Media], Awaitable[str]]
) -> types.Part:
    from google.genai import types

    if isinstance(part, Text):
        return types.Part(text=part.text)
    made = types.Part(video_metadata=_cut(part), media_resolution=_resolution(part))
    if part.file is not None and not how.uploads(part):
        made.inline_data = types.Blob(data=await Source(part).read(), mime_type=part.mime)
    else:
        uri = part.uri if part.file is None else await upload(part)
        made.file_data = types.FileData(file_uri=uri, mime_type=_mime(part))
    return made


def _mime(media: Media) -> str | None:
    """The media type; none for a YouTube video, whose type the service knows."""
    return None if media.mime.endswith("/*") else media.mime


def _cut(media: Media) -> types.VideoMetadata | None:
    from google.genai import types

    if media.start is None and media.end is None and media.fps is None:
        return None
    return types.VideoMetadata(
        start_offset=_offset(media.start), end_offset=_offset(media.end), fps=media.fps
    )


def _resolution(media: Media) -> types.PartMediaResolution | None:
    from google.genai import types

    if media.resolution is None:
        return None
    level = types.PartMediaResolutionLevel(f"MEDIA_RESOLUTION_{media.resolution.upper()}")
    return types.PartMediaResolution(level=level)


def _offset(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return f"{seconds:.3f}".rstrip("0").rstrip(".") + "s"
