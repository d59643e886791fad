"""RapidOCR itself: quiet, offline, and set for slides."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vr_kernel import Code, TextLine, VrError

if TYPE_CHECKING:
    from PIL.Image import Image

DETECTION_SIDE = 960
"""Pixels of the longer side while lines are looked for; they are read at full size.

12-pixel text of a 1920x1080 frame is still found; at 736 a third of it is lost.
"""


class Engine:
    """The loaded models; blocking, and to be used by one thread at a time."""

    def __init__(self, threads: int, minimum_confidence: float) -> None:
        """Load the models of RapidOCR's own package; nothing is ever downloaded.

        Raises:
            VrError: UNAVAILABLE when a library or a model file is missing.
        """
        # Since 1.29 onnxruntime reports use to Microsoft, unless this is set before its import.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        try:
            import rapidocr

            package = Path(rapidocr.__file__)
            parameters = {
                # It logs to stderr by itself, in colour, even that a picture has no text.
                "Global.log_level": "critical",
                "Global.text_score": minimum_confidence,
                "Global.use_cls": False,
                "EngineConfig.onnxruntime.intra_op_num_threads": threads,
                "Det.model_path": _find_model(package, "det"),
                "Det.limit_type": "max",
                "Det.limit_side_len": DETECTION_SIDE,
                "Rec.model_path": _find_model(package, "rec"),
                # Lines of a batch are padded to the longest: alone they are faster and smaller.
                "Rec.rec_batch_num": 1,
            }
            self._read: Any = rapidocr.RapidOCR(params=parameters)
        except ImportError as error:
            raise _missing_library(error) from error

    def read(self, picture: Image) -> list[TextLine]:
        """The lines of a picture, as found."""
        found = self._read(picture)
        if not len(found):
            return []
        return [
            TextLine(text, _bounds(corners), float(score))
            for text, corners, score in zip(
                found.txts, found.boxes.tolist(), found.scores, strict=True
            )
        ]


def _bounds(corners: list[list[float]]) -> tuple[float, float, float, float]:
    across, down = zip(*corners, strict=True)
    left, top = min(across), min(down)
    return left, top, max(across) - left, max(down) - top


def _find_model(package: Path, task: str) -> str:
    models = sorted(package.with_name("models").glob(f"*_{task}_*.onnx"))
    if not models:
        raise VrError(
            f"RapidOCR's package has no {task} model.",
            Code.UNAVAILABLE,
            category="MODEL_DAMAGED",
            hint="Install it again: pip install --force-reinstall rapidocr",
        )
    return str(models[-1])


def _missing_library(error: ImportError) -> VrError:
    return VrError(
        f"RapidOCR cannot start: {error}.",
        Code.UNAVAILABLE,
        category="EXTRA_MISSING",
        hint="Install it again: pip install --force-reinstall vr-ocr-rapidocr",
    )
