"""Files that a stranger could have made, written when they are needed; none is downloaded.

A later kind of file, such as documents, is one more mapping of names to what makes them.
"""

from __future__ import annotations

import io
import os
import random
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import media_bytes as made

FAR = 2**63 - 1
LONG_TEXT = 10_000_000
STREAMS = 5000
SPARSE = 10 * 2**30


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Targets that a file could lead to: another file, and an address that counts who asks."""

    file: Path
    url: str


Maker = bytes | Callable[[Elsewhere], bytes]


def _lazily(make: Callable[[], bytes]) -> Callable[[Elsewhere], bytes]:
    return lambda _elsewhere: make()


def _mp4() -> bytes:
    return made.encoded("mp4", "mpeg4")


def _patched(box: bytes, at: int, value: bytes) -> Callable[[Elsewhere], bytes]:
    return lambda _elsewhere: made.patched(_mp4(), box, at, value)


def _frames(**track: object) -> bytes:
    blocks = [made.block(1, time * 100, made.jpeg()) for time in range(10)]
    return made.matroska(tracks=made.picture_track(**track), blocks=blocks)


def _with_subtitles(text: bytes, cues: int = 1) -> bytes:
    tracks = made.picture_track() + made.subtitle_track()
    blocks = [made.block(1, 0, made.jpeg())]
    blocks += [made.block(2, min(number, 30_000), text) for number in range(cues)]
    return made.matroska(tracks=tracks, blocks=blocks)


def _with_chapters(count: int, title: bytes) -> bytes:
    marks = [(FAR - n if n % 2 else n, n if n % 3 else FAR, title) for n in range(count)]
    more = made.chapters(marks)
    return made.matroska(tracks=made.picture_track(), blocks=[_shown()], more=more)


def _with_tags(count: int, size: int) -> bytes:
    simple = (
        made.element("45a3", b"%x" % n) + made.element("4487", b"v" * size) for n in range(count)
    )
    inner = made.element("63c0", b"") + b"".join(made.element("67c8", each) for each in simple)
    more = made.element("1254c367", made.element("7373", inner))
    return made.matroska(tracks=made.picture_track(), blocks=[_shown()], more=more)


def _leading_to(place: int) -> bytes:
    cues = made.element("53ab", bytes.fromhex("1c53bb6b"))
    entry = made.element("4dbb", cues + made.element("53ac", place))
    more = made.element("114d9b74", entry * 1000)
    return made.matroska(tracks=made.picture_track(), blocks=[_shown()], more=more)


def _shown() -> bytes:
    return made.block(1, 0, made.jpeg())


def _zip() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../out.txt", bytes(20_000_000))
    return target.getvalue()


def _garbled(content: bytes, seed: int, share: float) -> bytes:
    chance = random.Random(seed)
    garbled = bytearray(content)
    for _ in range(max(1, int(len(content) * share))):
        garbled[chance.randrange(len(garbled))] = chance.randrange(256)
    return bytes(garbled)


def damaged() -> Mapping[str, Maker]:
    """Files of real muxers, cut off or garbled."""
    kinds = {
        "mp4": ("mp4", "mpeg4"),
        "mkv": ("matroska", "mpeg4"),
        "avi": ("avi", "mpeg4"),
        "mp3": ("mp3", "mp3"),
        "m4a": ("mp4", "aac"),
    }
    found: dict[str, Maker] = {}
    for suffix, (form, codec) in kinds.items():
        for percent in (1, 50, 99):
            found[f"cut at {percent}.{suffix}"] = lambda _e, f=form, c=codec, p=percent: (
                made.encoded(f, c)[: len(made.encoded(f, c)) * p // 100]
            )
        for seed, share in enumerate((0.001, 0.02, 0.3)):
            found[f"garbled {share}.{suffix}"] = lambda _e, f=form, c=codec, s=seed, h=share: (
                _garbled(made.encoded(f, c), s, h)
            )
    return found


IMPOSTORS: Mapping[str, Maker] = {
    "empty.mp4": b"",
    "one byte.mp4": b"\0",
    "zip.mp4": _lazily(_zip),
    "page.mp4": b"<!doctype html><html><video src='file:///etc/passwd'></video></html>",
    "script.mp4": b"#!/bin/sh\nexit 1\n",
    "picture.mp4": made.png(64, 64),
    "huge picture.mp4": made.png(100_000, 100_000),
    "many pictures.mp4": made.gif(65_535, 65_535, 1000),
    "drawing.mp4": lambda e: (
        f'<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "{e.file.as_uri()}">'
        f'<!ENTITY y SYSTEM "{e.url}y">]><svg xmlns="http://www.w3.org/2000/svg"'
        f' xmlns:xlink="http://www.w3.org/1999/xlink"><text>&x;&y;</text>'
        f'<image xlink:href="{e.url}z"/></svg>'
    ).encode(),
    "laughs.mp4": b'<!DOCTYPE a [<!ENTITY a "ha">'
    + b"".join(b'<!ENTITY %c "&%c;&%c;">' % (98 + n, 97 + n, 97 + n) for n in range(24))
    + b"]><a>&y;</a>",
}
"""Their name says that they are media; nothing in them is."""
LEADS: Mapping[str, Maker] = {
    "playlist.mp4": lambda e: (
        f"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{e.file.as_uri()}\n"
        f"#EXTINF:9,\n{e.url}a.ts\n#EXT-X-ENDLIST\n"
    ).encode(),
    "playlist by path.mp4": lambda e: (
        f"#EXTM3U\n#EXTINF:9,\n{e.file}\n#EXTINF:9,\nconcat:{e.file}|{e.file}\n#EXT-X-ENDLIST\n"
    ).encode(),
    "keyed playlist.mp4": lambda e: (
        f'#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="{e.url}key"\n'
        f'#EXT-X-MAP:URI="{e.file}"\n#EXTINF:9,\ncrypto+{e.url}a.ts\n#EXT-X-ENDLIST\n'
    ).encode(),
    "list.mp4": lambda e: f"ffconcat version 1.0\nfile '{e.file}'\nfile '{e.url}a'\n".encode(),
    "concat.mp4": lambda e: f"concat:{e.file}|{e.url}a".encode(),
    "sub-file.mp4": lambda e: f"subfile,,start,0,end,99,,:{e.file}".encode(),
    "manifest.mp4": lambda e: (
        '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"'
        ' mediaPresentationDuration="PT9S"><Period><AdaptationSet mimeType="video/mp4">'
        f'<Representation id="1"><BaseURL>{e.url}</BaseURL><SegmentList><SegmentURL media="a"/>'
        "</SegmentList></Representation></AdaptationSet></Period></MPD>"
    ).encode(),
    "session.mp4": b"v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=video 9 RTP/AVP 96\n",
    "redirect.mp4": lambda e: f"[Reference]\nRef1={e.url}a\n[playlist]\nFile1={e.url}b\n".encode(),
    "redirect.wmv": lambda e: f'<asx><entry><ref href="{e.url}a"/></entry></asx>'.encode(),
    "reference.mov": lambda e: (
        made.patched(made.patched(_mp4(), b"url ", 0, b"\0\0\0\0"), b"dref", 4, b"\0\0\0\1")
        + str(e.file).encode()
    ),
    "movie of a movie.mov": lambda e: _reference_movie(e.url),
}
"""They name other files and addresses, which are not to be opened."""
BOUNDLESS: Mapping[str, Maker] = {
    "wide and tall.mkv": _lazily(lambda: _frames(size=(100_000, 100_000))),
    "endless width.mkv": _lazily(lambda: _frames(size=(2**31 - 1, 1))),
    "no size.mkv": _lazily(lambda: _frames(size=(0, 0))),
    "billion frames a second.mkv": _lazily(lambda: _frames(frame_ns=1)),
    "frame of a century.mkv": _lazily(lambda: _frames(frame_ns=FAR)),
    "picture in small clothes.mkv": _lazily(
        lambda: made.matroska(
            tracks=made.picture_track(codec=b"V_PNG"),
            blocks=[made.block(1, t * 100, made.png(100_000, 100_000)) for t in range(10)],
        )
    ),
    "endless.mkv": _lazily(
        lambda: made.matroska(tracks=made.picture_track(), blocks=[_shown()], duration=1e300)
    ),
    "no number.mkv": _lazily(
        lambda: made.matroska(tracks=made.picture_track(), blocks=[_shown()], duration=float("nan"))
    ),
    "a unit of centuries.mkv": _lazily(
        lambda: made.matroska(
            tracks=made.picture_track(),
            blocks=[made.block(1, 30_000 * (t % 2), made.jpeg()) for t in range(9)],
            scale=FAR,
        )
    ),
    "no unit.mkv": _lazily(
        lambda: made.matroska(tracks=made.picture_track(), blocks=[_shown()], scale=0)
    ),
    "back and forth.mkv": _lazily(
        lambda: made.matroska(
            tracks=made.picture_track(),
            blocks=[made.block(1, (-1) ** t * 300 * t, made.jpeg()) for t in range(99)],
        )
    ),
    "many streams.mkv": _lazily(
        lambda: made.matroska(
            tracks=b"".join(made.picture_track(n + 1) for n in range(STREAMS)), blocks=[_shown()]
        )
    ),
    "many subtitles.mkv": _lazily(
        lambda: made.matroska(
            tracks=made.picture_track() + b"".join(made.subtitle_track(n + 2) for n in range(900)),
            blocks=[_shown()],
        )
    ),
    "chapters.mkv": _lazily(lambda: _with_chapters(20_000, b"Chapter")),
    "long chapters.mkv": _lazily(lambda: _with_chapters(20, b"a" * 500_000)),
    "long title.mkv": _lazily(
        lambda: made.matroska(
            tracks=made.picture_track(), blocks=[_shown()], more=made.titled(b"b" * LONG_TEXT)
        )
    ),
    "long line.mkv": _lazily(lambda: _with_subtitles(b"a" * LONG_TEXT)),
    "long words.mkv": _lazily(lambda: _with_subtitles(b"ab " * (LONG_TEXT // 3))),
    "many marks.mkv": _lazily(lambda: _with_subtitles(b"{\\an8}<b>" * (LONG_TEXT // 9))),
    "many cues.mkv": _lazily(lambda: _with_subtitles(b"cue", 200_000)),
    "size that lies.mkv": _lazily(
        lambda: made.element("1a45dfa3", b"", b"\x01" + b"\xff" * 6 + b"\xfe")
    ),
    "depth.mkv": lambda _e: (
        made.element("1a45dfa3", made.element("4282", b"matroska"))
        + b"".join(made.element("18538067", b"", made.UNKNOWN_SIZE) for _ in range(20_000))
    ),
    "channels.mkv": _lazily(
        lambda: made.matroska(
            tracks=made.sound_track(channels=2**31), blocks=[made.block(1, 0, bytes(4000))]
        )
    ),
    "sound of light.mkv": _lazily(
        lambda: made.matroska(
            tracks=made.sound_track(rate=1e300), blocks=[made.block(1, 0, bytes(4000))]
        )
    ),
    "nothing but tags.mkv": _lazily(lambda: _with_tags(60_000, 1)),
    "long tags.mkv": _lazily(lambda: _with_tags(40, 1_000_000)),
    "hundred thousand chapters.mkv": _lazily(lambda: _with_chapters(100_000, b"Chapter")),
    "seek head.mkv": _lazily(lambda: _leading_to(2**62)),
    "before the beginning.mkv": _lazily(
        lambda: made.matroska(
            tracks=made.picture_track(),
            blocks=[made.block(1, 100 * t - 30_000, made.jpeg()) for t in range(99)],
        )
    ),
    "surround.wav": lambda _e: made.wave(bytes(510 * 4000), channels=255),
    "no time unit.mp4": _patched(b"mvhd", 12, bytes(4)),
    "no track unit.mp4": _patched(b"mdhd", 12, bytes(4)),
    "long.mp4": _patched(b"mvhd", 16, b"\xff" * 4),
    "long track.mp4": _patched(b"mdhd", 16, b"\x7f\xff\xff\xff"),
    "times.mp4": _patched(b"stts", 4, b"\x0f\xff\xff\xff"),
    "time counts.mp4": _patched(b"stts", 8, b"\xff\xff\xff\xff\x7f\xff\xff\xff"),
    "sizes.mp4": _patched(b"stsz", 4, b"\0\0\0\0\x0f\xff\xff\xff"),
    "equal sizes.mp4": _patched(b"stsz", 4, b"\x7f\xff\xff\xff\x7f\xff\xff\xff"),
    "places.mp4": _patched(b"stco", 4, b"\x0f\xff\xff\xff"),
    "chunks.mp4": _patched(b"stsc", 8, b"\xff" * 12),
    "edits.mp4": _patched(b"elst", 4, b"\0\0\0\1\x7f\xff\xff\xff\x7f\xff\xff\xff"),
    "boxes.mp4": lambda _e: _mp4()[:32] + b"\0\0\0\x10moov" * 100_000,
    "box without end.mp4": lambda _e: _mp4()[:32] + b"\0\0\0\1moov" + b"\x7f" + b"\xff" * 7,
    "channels.wav": lambda _e: made.wave(bytes(4000), channels=65_535, rate=2**32 - 1),
    "claims.wav": lambda _e: made.wave(bytes(4000), stated=2**32 - 1),
    "no rate.wav": lambda _e: made.wave(bytes(4000), rate=0),
    "silence.wav": lambda _e: made.wave(b""),
    "tag.mp3": lambda _e: b"ID3\x04\0\0\x7f\x7f\x7f\x7f" + made.encoded("mp3", "mp3"),
    "tags.mp3": lambda _e: b"ID3\x03\0\0\0\0\0\0" * 100_000 + made.encoded("mp3", "mp3"),
    "picture of ours.flac": lambda _e: b"fLaC\x86\xff\xff\xff" + made.png(100_000, 100_000),
    "comments.ogg": lambda _e: b"OggS\0\2" + bytes(20) + b"\1\x1e\1vorbis" + b"\xff" * 60,
}
"""Their numbers are absurd; what is in them is little."""


def _reference_movie(url: str) -> bytes:
    """A QuickTime movie that is nothing but the address of another."""

    def box(name: bytes, content: bytes) -> bytes:
        return (len(content) + 8).to_bytes(4, "big") + name + content

    place = url.encode() + b"a.mov\0"
    reference = box(b"rdrf", bytes(4) + b"url " + len(place).to_bytes(4, "big") + place)
    return box(b"ftyp", b"qt  " + bytes(4)) + box(b"moov", box(b"rmra", box(b"rmda", reference)))


def _sparse(path: Path, _elsewhere: Elsewhere) -> None:
    with path.open("wb") as file:
        file.truncate(SPARSE)


def _sparse_text(path: Path, _elsewhere: Elsewhere) -> None:
    path.write_text("Dear diary,\n", "utf-8")
    os.truncate(path, SPARSE)


PLACED: Mapping[str, Callable[[Path, Elsewhere], None]] = {
    "sparse.mp4": _sparse,
    "sparse.wav": _sparse,
    "sparse text.mp4": _sparse_text,
    "folder.mp4": lambda path, _elsewhere: path.mkdir(),
    "pipe.mp4": lambda path, _elsewhere: os.mkfifo(path),
    "device.mp4": lambda path, _elsewhere: path.symlink_to("/dev/zero"),
}
"""What lies at the path is the trouble."""


def write(folder: Path, elsewhere: Elsewhere, files: Mapping[str, Maker]) -> None:
    """Write files into a folder."""
    for name, content in files.items():
        made_up = content(elsewhere) if callable(content) else content
        (folder / name).write_bytes(made_up)


def place(folder: Path, elsewhere: Elsewhere) -> None:
    """Put into a folder what is no honest file."""
    for name, put in PLACED.items():
        put(folder / name, elsewhere)
