"""Files that tell of pictures of which none can be decoded: refused before a model is paid."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from sessionkit import key_for
from videokit import failure, open_kernel
from vr_kernel import Code, Kernel, VrError
from vr_testing import FakeGemini

RATE = 8000
TOOLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("video_analyze", {}),
    ("video_analyze", {"engine": "local"}),
    ("video_create_session", {}),
    ("video_scenes", {}),
    ("video_transcript", {}),
    ("video_clip", {"end": "1"}),
)


def chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)


def listed(name: bytes, *parts: bytes) -> bytes:
    return chunk(b"LIST", name + b"".join(parts))


def stream(kind: bytes, scale: int, rate: int, length: int, size: int, form: bytes) -> bytes:
    numbers = (0, 0, 0, 0, scale, rate, 0, length, 0, 0, size)
    return listed(
        b"strl",
        chunk(b"strh", kind + struct.pack("<IHHIIIIIIII", *numbers) + bytes(8)),
        chunk(b"strf", form),
    )


def avi(
    *packets: bytes, streams: int = 1, rate: int = 25, length: int = 1000, heard: bool = False
) -> bytes:
    """A header that tells of H.264 in 640x480, perhaps of sound, and whatever follows it."""
    picture = struct.pack("<IiiHHIIiiII", 40, 640, 480, 1, 24, 0x34363248, 0, 0, 0, 0, 0)
    sound = struct.pack("<HHIIHH", 1, 1, RATE, 2 * RATE, 2, 16)
    told = stream(b"vidsH264", 1, rate, length, 0, picture) * streams
    if heard:
        told += stream(b"auds\1\0\0\0", 1, RATE, RATE, 2, sound)
    numbers = (40_000, 0, 0, 0, length, 0, streams + heard, 0, 640, 480, 0, 0, 0, 0)
    head = listed(b"hdrl", chunk(b"avih", struct.pack("<14I", *numbers)), told)
    return chunk(b"RIFF", b"AVI " + head + listed(b"movi", *packets))


HOSTILE = {
    "no-frame": avi(),
    "no-sound-either": avi(heard=True),
    "many-streams": avi(streams=200),
    "no-rate": avi(rate=0),
    "endless": avi(length=0xFFFFFFFF),
    "absurd-rate": avi(rate=0xFFFFFFFF),
    "noise": avi(*(chunk(b"00dc", b"\0\0\0\1\x65" + bytes([n % 251]) * 400) for n in range(300))),
}


async def refused(kernel: Kernel, tool: str, path: Path, arguments: dict[str, Any]) -> VrError:
    error = await failure(kernel, tool, file_path=str(path), **arguments)
    assert (error.code, error.category) == (Code.UNSUPPORTED, "FILE_UNSUPPORTED"), (tool, error)
    return error


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
async def test_a_file_of_which_nothing_can_be_decoded_is_refused_unpaid(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "talk.avi"
    path.write_bytes(content)
    with FakeGemini() as gemini:
        async with open_kernel(tmp_path, environ=key_for(gemini)) as kernel:
            for tool, arguments in TOOLS:
                error = await refused(kernel, tool, path, arguments)
                assert "decoded" in error.message
    assert gemini.requests == []


async def test_sound_without_its_pictures_is_a_sound_file(tmp_path: Path) -> None:
    path = tmp_path / "talk.avi"
    path.write_bytes(avi(chunk(b"01wb", bytes(2 * RATE)), length=25, heard=True))
    path.with_suffix(".en.srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nHello\n")
    async with open_kernel(tmp_path) as kernel:
        error = await refused(kernel, "video_scenes", path, {})
        assert "no pictures" in error.message
        clip = await kernel.call("video_clip", file_path=str(path), end="1", format="mp3")
        assert clip.duration == pytest.approx(1.0, abs=0.1)
        analysis = await kernel.call("video_analyze", file_path=str(path), detail="full")
        assert analysis.partial
        assert [each.text for each in analysis.segments] == ["Hello"]
