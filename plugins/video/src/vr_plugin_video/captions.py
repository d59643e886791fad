"""Captions that already exist: files beside the video, and subtitle streams inside it."""

from __future__ import annotations

import glob
import hashlib
import html
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from vr_kernel import Services, VrError

from vr_plugin_video.media import SubtitleStream, opened
from vr_plugin_video.plain_text import clean
from vr_plugin_video.streams import Packets, origin, packet_span
from vr_plugin_video.transcripts import Segment, Transcript, segment_of

SIDECAR_LIMIT = 10_000_000
"""Largest caption file in bytes; ten hours of speech take about 1 MB."""
LONGEST_CUE = 500
"""Characters of one cue; broadcasters allow about 80."""
_SUFFIXES = (".srt", ".vtt")
_LANGUAGE = re.compile(r"\.([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]+)*$")
_TIMING_TAG = re.compile(r"<\d+:[\d:.]+>")
_NOTE_BLOCK = re.compile(r"\n\s*\n(?:NOTE|STYLE|REGION)\b.*", re.DOTALL)
_ROLLING_GAP_S = 0.05
"""Rolling captions repeat a line in the next cue without a pause."""


@dataclass(frozen=True, slots=True)
class Sidecar:
    """A caption file that lies beside a video and carries its name."""

    path: Path
    language: str
    content: bytes

    @property
    def identity(self) -> str:
        """Changes whenever the captions do."""
        return f"{self.path.name}:{hashlib.sha256(self.content).hexdigest()}"


def find_sidecar(services: Services, video: Path, language: str) -> Sidecar | None:
    """The caption file beside `video` in the wanted language, or the plainest one; blocks.

    A file that the path policy refuses, or that is unreasonably large, counts as missing.
    """
    for named, candidate in sorted(_candidates(video), key=lambda c: _rank(c[0], c[1], language)):
        if language and named not in ("", language):
            continue
        try:
            with services.policy.open_file(candidate) as file:
                content = file.read(SIDECAR_LIMIT + 1)
        except VrError:
            continue
        if content and len(content) <= SIDECAR_LIMIT:
            return Sidecar(candidate, named, content)
    return None


def read_sidecar(sidecar: Sidecar) -> Transcript | None:
    """The transcript in a caption file, None when it holds no captions."""
    text = _decode(sidecar.content)
    segments = parse_captions(text, sidecar.path.suffix.lower().lstrip("."))
    if not segments:
        return None
    return Transcript(segments=tuple(segments), origin="sidecar", language=sidecar.language)


def parse_captions(text: str, style: str) -> list[Segment]:
    """Segments of SRT or WebVTT text; rolling captions are said once, marks are dropped."""
    from pysubs2 import SSAFile

    events = SSAFile.from_string(text, format_=style)
    timed = [(e.start / 1000, e.end / 1000, e.plaintext) for e in events if not e.is_comment]
    return _said_once(timed)


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
        segments = _said_once(events)
        if segments:
            spoken = _two_letters(described.language)
            return Transcript(segments=tuple(segments), origin="embedded", language=spoken)
    return None


def _events(
    container: Any, stream: Any, check: Callable[[], None]
) -> Iterator[tuple[float, float, str]]:
    zero = origin(container)
    for packet in Packets(container, stream):
        check()
        span = packet_span(packet, zero)
        texts = [_plain(subtitle) for subtitle in packet.decode() if hasattr(subtitle, "ass")]
        if span is not None and any(texts):
            yield *span, "\n".join(texts)


def _plain(subtitle: Any) -> str:
    from pysubs2 import SSAEvent

    dialogue = subtitle.dialogue.decode("utf-8", "replace")
    return str(SSAEvent(text=dialogue.replace("\n", "\\N")).plaintext)


def _said_once(events: Sequence[tuple[float, float, str]]) -> list[Segment]:
    segments: list[Segment] = []
    shown: list[str] = []
    shown_until = 0.0
    for start, end, raw in sorted(events, key=lambda event: event[0]):
        text = html.unescape(_TIMING_TAG.sub("", _NOTE_BLOCK.sub("", raw)))
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        rolling = start - shown_until <= _ROLLING_GAP_S
        fresh = [line for line in lines if not (rolling and line in shown)]
        shown, shown_until = lines, end
        segments += _pieces(start, end, " ".join(fresh))
    return segments


def _pieces(start: float, end: float, text: str) -> list[Segment]:
    """One segment, or several for a cue longer than any that is read on a screen."""
    pieces = textwrap.wrap(clean(text), LONGEST_CUE) or [""]
    step = (end - start) / len(pieces)
    made = [
        segment_of(start + n * step, start + (n + 1) * step, piece)
        for n, piece in enumerate(pieces)
    ]
    return [segment for segment in made if segment is not None]


def _decode(content: bytes) -> str:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _candidates(video: Path) -> list[tuple[str, Path]]:
    """Caption files named like the video, and the language that each name says."""
    found = []
    for path in video.parent.glob(f"{glob.escape(video.stem)}.*"):
        rest = path.stem.removeprefix(video.stem)
        match = _LANGUAGE.fullmatch(rest)
        if path.suffix.lower() in _SUFFIXES and (match or not rest):
            found.append((match.group(1).lower() if match else "", path))
    return found


def _rank(named: str, path: Path, language: str) -> tuple[bool, bool, str]:
    return named != language, named != "", path.name


def _same_language(stream: str, wanted: str) -> bool:
    return stream in ("", "und") or _two_letters(stream) == _two_letters(wanted)


def _two_letters(code: str) -> str:
    return _ISO_639_2.get(code.lower(), "" if code == "und" else code.lower())


_ISO_639_2 = {
    "eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es", "ita": "it",
    "nld": "nl", "dut": "nl", "por": "pt", "rus": "ru", "pol": "pl", "jpn": "ja", "zho": "zh",
    "chi": "zh", "kor": "ko", "ara": "ar", "hin": "hi", "tur": "tr", "swe": "sv", "dan": "da",
    "nor": "no", "fin": "fi", "ces": "cs", "cze": "cs", "ukr": "uk", "ell": "el", "gre": "el",
    "heb": "he", "hun": "hu", "ron": "ro", "rum": "ro", "vie": "vi", "tha": "th", "ind": "id",
}  # fmt: skip
"""Containers name languages in three letters, speech models in two."""
