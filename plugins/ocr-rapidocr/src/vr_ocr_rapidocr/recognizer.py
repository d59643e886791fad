"""The provider: pictures, one after the other, through one worker thread."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from vr_kernel import TextLine

from vr_ocr_rapidocr.lines import sort_lines
from vr_ocr_rapidocr.settings import RapidOcrSettings

if TYPE_CHECKING:
    from vr_ocr_rapidocr.engine import Engine


class RapidOcrRecognizer:
    """RapidOCR with the models of its own package; loaded with the first picture.

    One worker thread holds the models: calls wait in line without occupying a thread, and a
    cancelled call never leaves two pictures in the engine at once.
    """

    name = "rapidocr"

    def __init__(self, settings: RapidOcrSettings) -> None:
        self._settings = settings
        self._engine: Engine | None = None
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="rapidocr")

    async def recognize(self, image: bytes) -> list[TextLine]:
        """Lines of a PNG, JPEG or WebP, from top to bottom, in a row from left to right.

        Raises:
            VrError: INVALID_INPUT for bytes that are no such picture, TOO_LARGE for more pixels
                than are read, UNAVAILABLE when a library or its models are missing.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, self._recognize, image)

    async def aclose(self) -> None:
        """Let go of the worker and the models."""
        self._worker.shutdown(wait=False, cancel_futures=True)
        self._engine = None

    def _recognize(self, image: bytes) -> list[TextLine]:
        from vr_ocr_rapidocr.engine import Engine
        from vr_ocr_rapidocr.pictures import decode_picture

        picture = decode_picture(image)
        if self._engine is None:
            self._engine = Engine(self._settings.threads, self._settings.minimum_confidence)
        return sort_lines(self._engine.read(picture))
