from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from io import BytesIO

import pytest
from PIL import Image, ImageDraw, ImageFont  # noqa: TID253 - draws what is to be read
from vr_ocr_rapidocr.recognizer import RapidOcrRecognizer
from vr_ocr_rapidocr.settings import RapidOcrSettings

Draw = Callable[..., bytes]


@pytest.fixture(scope="session")
def rapidocr() -> Iterator[RapidOcrRecognizer]:
    recognizer = RapidOcrRecognizer(RapidOcrSettings())
    yield recognizer
    asyncio.run(recognizer.aclose())


@pytest.fixture(scope="session")
def draw() -> Draw:
    def picture(*texts: tuple[str, int, int], form: str = "PNG", **options: object) -> bytes:
        """Texts at their (left, top) on a white page of 640 x 360 pixels."""
        page = Image.new("RGB", (640, 360), "white")
        pen, font = ImageDraw.Draw(page), ImageFont.load_default(28)
        for text, left, top in texts:
            pen.text((left, top), text, fill="black", font=font)
        file = BytesIO()
        page.save(file, form, **options)
        return file.getvalue()

    return picture
