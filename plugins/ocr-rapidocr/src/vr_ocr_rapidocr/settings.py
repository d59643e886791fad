"""The section `[plugins.ocr-rapidocr]`."""

from __future__ import annotations

from pydantic import Field
from vr_kernel import Section


class RapidOcrSettings(Section):
    """Processor threads of the recognizer, and the least confidence that it accepts."""

    threads: int = Field(2, ge=1, le=64, description="Processor threads for one picture.")
    minimum_confidence: float = Field(
        0.5, ge=0, le=1, description="Lines that the model is less sure of are left out."
    )
