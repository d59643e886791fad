"""Caption files beside a video, which carry its name: `talk.srt`, `talk.en.vtt`."""

from __future__ import annotations

import glob
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from vr_kernel import Services, VrError

from vr_plugin_video.captions.cues import parse_captions
from vr_plugin_video.captions.transcripts import Transcript
from vr_plugin_video.media.formats import split_name

SIDECAR_LIMIT = 10_000_000
"""Largest caption file in bytes; ten hours of speech take about 1 MB."""
_SUFFIXES = (".srt", ".vtt")
_LANGUAGE = re.compile(r"\.([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]+)*$")


@dataclass(frozen=True, slots=True)
class Sidecar:
    """A caption file that lies beside a video and carries its name."""

    path: Path
    language: str
    content: bytes

    @property
    def identity(self) -> str:
        """A name that changes whenever the captions do."""
        return f"{self.path.name}:{hashlib.sha256(self.content).hexdigest()}"


def find_sidecar(services: Services, video: Path, language: str) -> Sidecar | None:
    """The caption file beside `video` in the wanted language, else the plainest named; blocks.

    A file that the path policy refuses, or that is unreasonably large, counts as missing.
    """
    for named, path in sorted(_caption_files(video), key=lambda c: _rank(c[0], c[1], language)):
        if language and named not in ("", language):
            continue
        try:
            with services.policy.open_file(path) as file:
                content = file.read(SIDECAR_LIMIT + 1)
        except VrError:
            continue
        if content and len(content) <= SIDECAR_LIMIT:
            return Sidecar(path, named, content)
    return None


def sidecar_languages(video: Path) -> set[str]:
    """The languages that the caption files beside `video` name; blocks."""
    return {named for named, _ in _caption_files(video) if named}


def read_sidecar(sidecar: Sidecar) -> Transcript | None:
    """The transcript of a caption file; None when it holds no captions."""
    text = _decode(sidecar.content)
    segments = parse_captions(text, split_name(sidecar.path.name)[1].lstrip("."))
    if not segments:
        return None
    return Transcript(segments=tuple(segments), origin="sidecar", language=sidecar.language)


def _decode(content: bytes) -> str:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _caption_files(video: Path) -> list[tuple[str, Path]]:
    """Caption files named like the video, and the language that each name says."""
    found = []
    of_video, _ = split_name(video.name)
    for path in video.parent.glob(f"{glob.escape(of_video)}.*"):
        stem, ending = split_name(path.name)
        rest = stem.removeprefix(of_video)
        match = _LANGUAGE.fullmatch(rest)
        if ending in _SUFFIXES and (match or not rest):
            found.append((match.group(1).lower() if match else "", path))
    return found


def _rank(named: str, path: Path, language: str) -> tuple[bool, bool, str]:
    return named != language, named != "", path.name
