"""Offers the text recognizer `rapidocr`; its models are loaded with the first picture."""

from __future__ import annotations

from vr_kernel import Provider, Section, Services, TextRecognizer, hookimpl

from vr_ocr_rapidocr.recognizer import RapidOcrRecognizer
from vr_ocr_rapidocr.settings import RapidOcrSettings


@hookimpl
def vr_settings() -> type[Section]:
    """The section `[plugins.ocr-rapidocr]`."""
    return RapidOcrSettings


@hookimpl
def vr_providers() -> list[Provider[TextRecognizer]]:
    """The one recognizer of this distribution."""
    return [Provider(TextRecognizer, "rapidocr", _build)]


def _build(services: Services) -> TextRecognizer:
    return RapidOcrRecognizer(services.settings)
