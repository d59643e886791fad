"""RapidOCR keeps what every text recognizer keeps."""

from __future__ import annotations

from typing import ClassVar

import pytest
from vr_ocr_rapidocr import plugin
from vr_testing import TextRecognizerContract


@pytest.mark.slow  # every test loads the models
class TestRapidOcr(TextRecognizerContract):
    plugins: ClassVar = {"ocr-rapidocr": plugin}
    provider = "rapidocr"
