"""Tesseract keeps what every text recognizer keeps."""

from __future__ import annotations

import shutil
from typing import ClassVar

import pytest
from vr_ocr_tesseract import plugin
from vr_testing import TextRecognizerContract


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
class TestTesseract(TextRecognizerContract):
    plugins: ClassVar = {"ocr-tesseract": plugin}
    provider = "tesseract"
