"""Files with huge headers are refused at once, before anything is paid."""

from __future__ import annotations

import io
import struct
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from sessionkit import key_for
from videokit import failure, open_kernel
from vr_kernel import Code, VrError
from vr_plugin_video.media.probe import probe
from vr_testing import FakeGemini

FEW, MANY = 1000, 60_000
"""Entries: as an honest file may have, and as takes FFmpeg ten seconds and more."""
MOST_CPU_S = 5.0
"""Seconds; it takes a hundredth of them."""


def element(name: str, content: bytes) -> bytes:
    return bytes.fromhex(name) + b"\x01" + len(content).to_bytes(7, "big") + content


def number(name: str, value: int) -> bytes:
    return element(name, value.to_bytes(8, "big"))


def matroska(more: bytes = b"", tracks: int = 1) -> bytes:
    head = element("1a45dfa3", element("4282", b"matroska") + number("4287", 4) + number("4285", 2))
    length = element("4489", struct.pack(">d", 1e3))
    info = element("1549a966", number("2ad7b1", 1_000_000) + length)
    rate = element("b5", struct.pack(">d", 8000))
    sound = element("e1", rate + number("9f", 1) + number("6264", 16))
    track = number("73c5", 1) + number("83", 2) + element("86", b"A_PCM/INT/LIT") + sound
    told = b"".join(element("ae", number("d7", n + 1) + track) for n in range(tracks))
    block = b"\x81" + struct.pack(">hB", 0, 0x80) + bytes(16_000)
    cluster = element("1f43b675", number("e7", 0) + element("a3", block))
    return head + element("18538067", info + element("1654ae6b", told) + more + cluster)


def tagged_matroska(count: int) -> bytes:
    named = (element("45a3", b"%x" % n) + element("4487", b"v") for n in range(count))
    tags = element("63c0", b"") + b"".join(element("67c8", each) for each in named)
    return matroska(element("1254c367", element("7373", tags)))


def chaptered_matroska(count: int) -> bytes:
    atoms = (element("b6", number("73c4", n + 1) + number("91", n)) for n in range(count))
    return matroska(element("1043a770", element("45b9", b"".join(atoms))))


def comments(count: int) -> bytes:
    told = (struct.pack("<I", len(b"%x=v" % n)) + b"%x=v" % n for n in range(count))
    return struct.pack("<I", 1) + b"x" + struct.pack("<I", count) + b"".join(told)


def flac(count: int) -> bytes:
    whole, told = encoded("flac", "flac"), comments(count)
    size = 42  # of the mark and the first block
    block = b"\x04" + len(told).to_bytes(3, "big") + told
    return whole[:4] + b"\x00" + whole[5:size] + block + whole[size:]


def ogg(count: int) -> bytes:
    told = {f"k{n:x}": "v" for n in range(min(count, 8000))}  # a muxer searches its list, too
    return encoded("ogg", "libopus", told)


def mp3(count: int) -> bytes:
    frames = (
        b"TXXX" + struct.pack(">IH", len(b"\0%x\0v" % n), 0) + b"\0%x\0v" % n for n in range(count)
    )
    told = b"".join(frames)
    size = bytes(len(told) >> shift & 127 for shift in (21, 14, 7, 0))
    return b"ID3\x03\0\0" + size + told + encoded("mp3", "mp3")


def encoded(form: str, codec: str, told: dict[str, str] | None = None) -> bytes:
    import av
    import numpy as np

    target = io.BytesIO()
    with av.open(target, "w", format=form) as output:
        stream = output.add_stream(codec, rate=16_000)
        output.metadata.update(told or {})
        for _ in range(20):
            silence = np.zeros((1, 1152), np.int16)
            frame = av.AudioFrame.from_ndarray(silence, format="s16", layout="mono")
            frame.sample_rate = 16_000
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return target.getvalue()


@pytest.mark.parametrize("made", [tagged_matroska, flac, mp3, ogg])
def test_a_file_that_is_nothing_but_tags_is_refused_at_once(made: Callable[[int], bytes]) -> None:
    content = made(MANY)
    with pytest.raises(VrError) as refused:
        probe(io.BytesIO(content))
    assert (refused.value.code, refused.value.category) == (Code.TOO_LARGE, "FILE_TOO_LARGE")
    assert "-map_metadata -1" in refused.value.hint


@pytest.mark.parametrize("made", [tagged_matroska, flac, mp3, ogg])
def test_a_file_with_many_tags_is_read(made: Callable[[int], bytes]) -> None:
    assert probe(io.BytesIO(made(FEW))).has_audio


def test_a_million_chapters_are_refused_and_some_thousand_capped() -> None:
    assert len(probe(io.BytesIO(chaptered_matroska(3000))).chapters) <= 1000
    with pytest.raises(VrError) as refused:
        probe(io.BytesIO(chaptered_matroska(100_000)))
    assert refused.value.code is Code.TOO_LARGE


def test_a_thousand_streams_are_read_as_far_as_there_may_be() -> None:
    assert probe(io.BytesIO(matroska(tracks=1000))).has_audio


@pytest.mark.slow
@pytest.mark.parametrize("content", [flac(MANY), matroska(tracks=1000)], ids=["tags", "streams"])
def test_no_header_takes_long(content: bytes) -> None:
    began = time.thread_time()
    with suppress(VrError):
        probe(io.BytesIO(content))
    assert time.thread_time() - began < MOST_CPU_S


def test_a_seek_head_that_leads_out_of_the_file_is_passed_over() -> None:
    entry = element("4dbb", element("53ab", bytes.fromhex("1c53bb6b")) + number("53ac", 2**62))
    media = probe(io.BytesIO(matroska(element("114d9b74", entry * 1000))))
    assert media.duration == 1.0


async def test_it_is_refused_before_anything_is_paid(tmp_path) -> None:
    (tmp_path / "talk.flac").write_bytes(flac(MANY))
    with FakeGemini() as gemini:
        async with open_kernel(tmp_path, environ=key_for(gemini)) as kernel:
            for engine in ("gemini", "local"):
                error = await failure(
                    kernel, "video_analyze", file_path=str(tmp_path / "talk.flac"), engine=engine
                )
                assert (error.code, error.category) == (Code.TOO_LARGE, "FILE_TOO_LARGE")
        assert gemini.requests == []
