"""Runs of the program, the errors that its failures become, and the real one's readings."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError
from vr_kernel import Code, VrError
from vr_ocr_tesseract.recognizer import TesseractRecognizer
from vr_ocr_tesseract.settings import TesseractSettings

PAGE = (Path(__file__).parent / "data" / "page.png").read_bytes()
needs_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None, reason="tesseract is not installed"
)
needs_scripts = pytest.mark.skipif(sys.platform == "win32", reason="scripts start by shebang")


def write_program(folder: Path, code: str) -> str:
    """An executable that stands in for the program."""
    path = folder / "program"
    path.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{code}", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def recognizer(program: str = "tesseract", **settings: object) -> TesseractRecognizer:
    return TesseractRecognizer(TesseractSettings(program=program, **settings))


@needs_tesseract
@pytest.mark.parametrize("layout", [3, 6])
async def test_a_page_is_read(layout):
    lines = await recognizer(layout=layout).recognize(PAGE)
    assert [line.text for line in lines] == ["Total cost: $42.50", "The second line"]
    for line, top in zip(lines, (40, 140), strict=True):
        assert line.box[0] == pytest.approx(40, abs=8)
        assert line.box[1] <= top + 20 <= line.box[1] + line.box[3]
        assert 0.5 <= line.confidence <= 1


@needs_tesseract
async def test_a_cut_picture_is_invalid_input():
    with pytest.raises(VrError) as caught:
        await recognizer().recognize(PAGE[: len(PAGE) // 2])
    assert caught.value.code is Code.INVALID_INPUT


@needs_tesseract
async def test_a_missing_language_is_named():
    with pytest.raises(VrError, match="xyzzy") as caught:
        await recognizer(languages="xyzzy").recognize(PAGE)
    assert caught.value.code is Code.UNAVAILABLE
    assert "--list-langs" in caught.value.hint


async def test_a_missing_program_says_how_to_install_it():
    with pytest.raises(VrError, match="no-such-program") as caught:
        await recognizer("no-such-program").recognize(PAGE)
    assert caught.value.code is Code.UNAVAILABLE
    assert "apt install tesseract-ocr" in caught.value.hint


@needs_scripts
async def test_arguments_and_environment(tmp_path):
    code = (
        f"seen = [sys.argv[1:], os.environ['OMP_THREAD_LIMIT'], len(sys.stdin.buffer.read())]\n"
        f"open({str(tmp_path / 'seen')!r}, 'w').write(json.dumps(seen))"
    )
    reader = recognizer(write_program(tmp_path, code), languages="deu+eng", layout=11)
    assert await reader.recognize(PAGE) == []
    arguments = ["stdin", "stdout", "-l", "deu+eng", "--psm", "11", "tsv"]
    seen = json.loads((tmp_path / "seen").read_text(encoding="utf-8"))
    assert seen == [arguments, "1", len(PAGE)]


@needs_scripts
async def test_bytes_that_are_no_picture_never_reach_the_program(tmp_path):
    mark = tmp_path / "started"
    reader = recognizer(write_program(tmp_path, f"open({str(mark)!r}, 'w')"))
    with pytest.raises(VrError) as caught:
        await reader.recognize(b"/etc/secret.png\n")
    assert caught.value.code is Code.INVALID_INPUT
    assert not mark.exists()


@needs_scripts
async def test_a_program_that_reads_nothing_and_fails_is_a_bad_picture(tmp_path):
    program = write_program(tmp_path, "sys.exit('Error in pixReadMem')")
    with pytest.raises(VrError) as caught:
        await recognizer(program).recognize(PAGE + bytes(2_000_000))
    assert caught.value.code is Code.INVALID_INPUT


@needs_scripts
async def test_a_file_that_is_no_program_is_unavailable(tmp_path):
    path = tmp_path / "program"
    path.write_bytes(b"\x00\x01 neither script nor binary")
    path.chmod(0o755)
    with pytest.raises(VrError) as caught:
        await recognizer(str(path)).recognize(PAGE)
    assert caught.value.code is Code.UNAVAILABLE


@pytest.mark.slow
@needs_scripts
async def test_a_slow_program_is_stopped(tmp_path):
    pid = tmp_path / "pid"
    code = f"open({str(pid)!r}, 'w').write(str(os.getpid()))\nsys.stdin.read()\ntime.sleep(600)"
    # The start of an interpreter may take seconds on a busy machine; the sleep takes longer.
    reader = recognizer(write_program(tmp_path, code), timeout_s=5)
    with pytest.raises(VrError, match="longer than 5 seconds") as caught:
        await reader.recognize(PAGE)
    assert caught.value.retryable
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text(encoding="ascii")), 0)


@needs_scripts
async def test_a_cancelled_call_stops_the_program(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = f"held = open({str(pipe)!r}, 'w')\nheld.write('up\\n')\nheld.flush()\ntime.sleep(600)"
    call = asyncio.ensure_future(recognizer(write_program(tmp_path, code)).recognize(PAGE))
    with await asyncio.to_thread(pipe.open) as held:
        assert held.readline() == "up\n"
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await asyncio.to_thread(held.read) == ""


@pytest.mark.parametrize(
    "languages", ["", "-c", "eng -c x", "--psm", "eng+", "../eng", "eng\n", "eng;ls", "/x", "1eng"]
)
def test_languages_cannot_hold_options_or_paths(languages):
    with pytest.raises(ValidationError):
        TesseractSettings(languages=languages)


@pytest.mark.parametrize("languages", ["eng", "deu+eng", "chi_sim", "Latin"])
def test_languages_may_be_joined(languages):
    assert TesseractSettings(languages=languages).languages == languages
