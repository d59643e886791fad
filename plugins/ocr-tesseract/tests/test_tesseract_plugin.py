"""The plugin serves through a kernel, without the program being there."""

from __future__ import annotations

from vr_kernel import Kernel, TextRecognizer, load_config
from vr_ocr_tesseract import plugin


async def test_a_kernel_serves_the_recognizer(tmp_path):
    folders = {f"VR_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "STATE", "CACHE")}
    async with Kernel.open(load_config(folders), {"ocr-tesseract": plugin}) as kernel:
        assert kernel.plugins()[-1].state == "loaded"
        assert kernel.services.providers.get(TextRecognizer, "tesseract").name == "tesseract"
