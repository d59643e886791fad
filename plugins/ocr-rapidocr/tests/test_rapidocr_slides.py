"""The character error rate on the six slides of the bundled talk."""

from __future__ import annotations

import json
import os
import re
from io import BytesIO
from pathlib import Path

import pytest

DATA = os.environ.get("VR_TEST_DATA")
pytestmark = pytest.mark.skipif(not DATA, reason="VR_TEST_DATA names no folder with media/")
FOOTER = re.compile(r"^\s*\d+\s*/\s*\d+\s*$", re.MULTILINE)
BULLET = re.compile(r"^\s*[•·▪◦*\u2013-]\s*", re.MULTILINE)


def normalise(text: str) -> str:
    """Without page numbers and bullet glyphs, white space as single blanks."""
    return " ".join(BULLET.sub("", FOOTER.sub("", text)).split())


def distance(left: str, right: str) -> int:
    """Levenshtein's distance in characters."""
    row = list(range(len(right) + 1))
    for count, letter in enumerate(left, 1):
        above, row[0] = row[0], count
        for place, other in enumerate(right, 1):
            cheapest = min(row[place] + 1, row[place - 1] + 1, above + (letter != other))
            above, row[place] = row[place], cheapest
    return row[-1]


def slides(most: int) -> list[tuple[bytes, str]]:
    """The middle frames of the first slides as PNG, and what stands on each."""
    av = pytest.importorskip("av", reason="av is not installed")
    media = Path(DATA or "") / "media"
    made = []
    with av.open(str(media / "talk.mp4")) as container:
        stream = container.streams.video[0]
        truth = json.loads((media / "talk.truth.json").read_text(encoding="utf-8"))
        for slide in truth[:most]:
            middle = (slide["start"] + slide["end"]) / 2
            container.seek(int(middle / stream.time_base), stream=stream)
            frame = next(f for f in container.decode(stream) if f.time >= middle)
            file = BytesIO()
            frame.to_image().save(file, "PNG")
            made.append((file.getvalue(), "\n".join([slide["title"], *slide["bullets"]])))
    return made


@pytest.mark.parametrize("most", [1, pytest.param(6, marks=pytest.mark.slow)])
async def test_slides_are_read_almost_without_error(rapidocr, most):
    wrong = total = 0
    for picture, truth in slides(most):
        read = "\n".join(line.text for line in await rapidocr.recognize(picture))
        wrong += distance(normalise(read), normalise(truth))
        total += len(normalise(truth))
    assert total > 80 * most
    assert wrong / total <= 0.03
