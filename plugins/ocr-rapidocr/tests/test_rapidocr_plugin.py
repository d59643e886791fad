"""The plugin is light to import and serves through a kernel."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from vr_kernel import Kernel, TextRecognizer, load_config
from vr_ocr_rapidocr import plugin

HEAVY = ("numpy", "onnxruntime", "rapidocr", "cv2", "PIL")


def test_importing_the_plugin_imports_no_heavy_library():
    code = (
        "import json, sys, vr_ocr_rapidocr.plugin as p; p.vr_providers();"
        f"print(json.dumps([m for m in {HEAVY} if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert json.loads(done.stdout) == []


async def test_a_kernel_serves_the_recognizer(tmp_path, draw):
    folders = {f"VR_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "STATE", "CACHE")}
    config = load_config({**folders, "VR_OCR_RAPIDOCR__THREADS": "1"})
    async with Kernel.open(config, {"ocr-rapidocr": plugin}) as kernel:
        recognizer = kernel.services.providers.get(TextRecognizer)
        lines = await recognizer.recognize(draw(("served text", 40, 60)))
    assert recognizer.name == "rapidocr"
    assert [line.text for line in lines] == ["served text"]


@pytest.mark.parametrize("wrong", [{"threads": 0}, {"minimum_confidence": 1.5}, {"thread": 1}])
def test_settings_are_checked(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        plugin.vr_settings().model_validate(wrong)
