"""The section `[plugins.ocr-tesseract]`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from vr_kernel import Section

LANGUAGES = r"^[A-Za-z][A-Za-z0-9_]*(\+[A-Za-z][A-Za-z0-9_]*)*$"
"""Names of language data joined by `+`; neither an option nor a path can be written so."""


class TesseractSettings(Section):
    """The program that is run, and its options."""

    program: str = Field("tesseract", min_length=1, description="Name or path of the program.")
    languages: str = Field(
        "eng", pattern=LANGUAGES, max_length=100, description="For example eng or deu+eng."
    )
    layout: Literal[3, 4, 6, 11] = Field(
        6,
        description="Page segmentation mode: 6 one block, 4 one column, 3 automatic, 11 sparse.",
    )
    minimum_confidence: float = Field(
        0.5, ge=0, le=1, description="Words that the program is less sure of are left out."
    )
    timeout_s: float = Field(60, gt=0, description="Seconds for one picture.")
    processes: int = Field(2, ge=1, le=64, description="Most pictures that are read at once.")
