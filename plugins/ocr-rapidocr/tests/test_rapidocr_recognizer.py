"""Text is found, in order, at its place; nothing leaves the machine or reaches stdout."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys

import pytest
from vr_kernel import Code, VrError
from vr_ocr_rapidocr.recognizer import RapidOcrRecognizer
from vr_ocr_rapidocr.settings import RapidOcrSettings

PAGE = (("Total cost: $42.50", 40, 60), ("second line", 40, 160), ("right column", 400, 160))


async def test_lines_are_read_in_order_and_where_they_are(rapidocr, draw):
    lines = await rapidocr.recognize(draw(*PAGE))
    assert [line.text for line in lines] == ["Total cost: $42.50", "second line", "right column"]
    assert all(0.5 <= line.confidence <= 1 for line in lines)
    for line, (_, left, top) in zip(lines, PAGE, strict=True):
        assert line.box[0] == pytest.approx(left, abs=12)
        assert line.box[1] <= top + 14 <= line.box[1] + line.box[3]
        assert 15 < line.box[3] < 60
        assert line.box[2] > line.box[3]


async def test_a_blank_page_has_no_lines(rapidocr, draw):
    assert await rapidocr.recognize(draw()) == []


@pytest.mark.slow
async def test_concurrent_pictures_keep_their_own_text(rapidocr, draw):
    pages = [draw((f"page number {n}", 40, 60 + 20 * n)) for n in range(3)]
    found = await asyncio.gather(*map(rapidocr.recognize, pages))
    assert [lines[0].text for lines in found] == [f"page number {n}" for n in range(3)]


async def test_bad_bytes_do_not_stop_the_next_picture(rapidocr, draw):
    with pytest.raises(VrError) as caught:
        await rapidocr.recognize(b"\x89PNG broken")
    assert caught.value.code is Code.INVALID_INPUT
    assert len(await rapidocr.recognize(draw(("next", 40, 60)))) == 1


async def test_the_least_confidence_is_kept(draw):
    strict = RapidOcrRecognizer(RapidOcrSettings(minimum_confidence=1.0))
    lines = await strict.recognize(draw(("faint text here", 40, 60)))
    await strict.aclose()
    assert all(line.confidence == 1 for line in lines)


_WATCHED = """
import asyncio, json, sys
from vr_ocr_rapidocr.recognizer import RapidOcrRecognizer
from vr_ocr_rapidocr.settings import RapidOcrSettings
calls = []
sys.addaudithook(lambda event, _: calls.append(event) if event in WATCH else None)
WATCH = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}
lines = asyncio.run(RapidOcrRecognizer(RapidOcrSettings()).recognize(sys.stdin.buffer.read()))
print(json.dumps({"lines": [line.text for line in lines], "calls": calls}))
"""


@pytest.mark.slow
def test_an_empty_home_without_network_is_enough(tmp_path, draw):
    silenced_in = ("CI", "GITHUB_ACTIONS", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS")
    environ = {name: value for name, value in os.environ.items() if name not in silenced_in}
    homes = ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA")
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED],
        input=draw(("hello reader", 40, 60)),
        capture_output=True,
        check=True,
        timeout=110,
        env={**environ, **dict.fromkeys(homes, str(tmp_path))},
    )
    assert json.loads(done.stdout) == {"lines": ["hello reader"], "calls": []}
    assert b"RapidOCR" not in done.stderr
    assert list(tmp_path.rglob("*onnxruntime*")) == []
