"""Offers the text recognizer `tesseract`; the program is looked for with the first picture."""

from __future__ import annotations

from vr_kernel import Provider, Section, Services, TextRecognizer, hookimpl

from vr_ocr_tesseract.recognizer import TesseractRecognizer
from vr_ocr_tesseract.settings import TesseractSettings


@hookimpl
def vr_settings() -> type[Section]:
    """The section `[plugins.ocr-tesseract]`."""
    return TesseractSettings


@hookimpl
def vr_providers() -> list[Provider[TextRecognizer]]:
    """The one recognizer of this distribution."""
    return [Provider(TextRecognizer, "tesseract", _build)]


def _build(services: Services) -> TextRecognizer:
    return TesseractRecognizer(services.settings)
