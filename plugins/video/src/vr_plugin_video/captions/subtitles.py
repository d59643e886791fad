"""Subtitle streams inside a media file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

from vr_plugin_video.captions.cues import CUE_LIMIT, said_once
from vr_plugin_video.captions.sidecars import SIDECAR_LIMIT
from vr_plugin_video.captions.transcripts import Transcript
from vr_plugin_video.media.info import SubtitleStream
from vr_plugin_video.media.probe import opened
from vr_plugin_video.media.streams import Packets, origin, packet_span


def read_embedded(
    file: BinaryIO,
    streams: Sequence[SubtitleStream],
    language: str,
    check: Callable[[], None],
) -> Transcript | None:
    """The transcript in the best text subtitle stream, None when there is none; blocks.

    `check` is called now and then, and raises to stop.
    """
    for described in streams:
        if language and not _same_language(described.language, language):
            continue
        with opened(file) as container:
            stream = container.streams[described.index]
            events = list(_events(container, stream, check))
        segments = said_once(events)
        if segments:
            spoken = two_letters(described.language)
            return Transcript(segments=tuple(segments), origin="embedded", language=spoken)
    return None


def _events(
    container: Any, stream: Any, check: Callable[[], None]
) -> Iterator[tuple[float, float, str]]:
    zero = origin(container)
    read = 0
    for packet in Packets(container, stream):
        check()
        read += packet.size
        if packet.size > CUE_LIMIT:
            continue
        if read > SIDECAR_LIMIT:
            return
        span = packet_span(packet, zero)
        texts = [_plain(subtitle) for subtitle in packet.decode() if hasattr(subtitle, "ass")]
        if span is not None and any(texts):
            yield *span, "\n".join(texts)


def _plain(subtitle: Any) -> str:
    from pysubs2 import SSAEvent

    dialogue = subtitle.dialogue.decode("utf-8", "replace")
    return str(SSAEvent(text=dialogue.replace("\n", "\\N")).plaintext)


def _same_language(stream: str, wanted: str) -> bool:
    return stream in ("", "und") or two_letters(stream) == two_letters(wanted)


def two_letters(code: str) -> str:
    """A language as speech models name it, empty when it is not known."""
    return _ISO_639_2.get(code.lower(), "" if code == "und" else code.lower())


_ISO_639_2 = {
    "eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es", "ita": "it",
    "nld": "nl", "dut": "nl", "por": "pt", "rus": "ru", "pol": "pl", "jpn": "ja", "zho": "zh",
    "chi": "zh", "kor": "ko", "ara": "ar", "hin": "hi", "tur": "tr", "swe": "sv", "dan": "da",
    "nor": "no", "fin": "fi", "ces": "cs", "cze": "cs", "ukr": "uk", "ell": "el", "gre": "el",
    "heb": "he", "hun": "hu", "ron": "ro", "rum": "ro", "vie": "vi", "tha": "th", "ind": "id",
}  # fmt: skip
"""Containers name languages in three letters, speech models in two."""
