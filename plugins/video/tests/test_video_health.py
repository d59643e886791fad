"""Checks of the video plugin for `vr doctor`: libraries, the speech model, text on screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from videokit import open_kernel
from vr_kernel import Diagnosis, VrError
from vr_plugin_video.speech.model_files import NEEDED
from vr_plugin_video.speech.speech_models import speech_available


async def examine(folder: Path, **settings: str) -> dict[str, Diagnosis | VrError]:
    """Return what each check of the plugin finds, or raises."""
    found: dict[str, Diagnosis | VrError] = {}
    async with open_kernel(folder, **settings) as kernel:
        for check in kernel.health["video"]():
            try:
                found[check.name] = check.examine()
            except VrError as error:
                found[check.name] = error
    return found


def whole_model(folder: Path) -> Path:
    """A folder with the files that a speech model has."""
    folder.mkdir()
    for name in (*NEEDED, "vocabulary.txt"):
        (folder / name).write_bytes(b"x" * 2_000_000)
    return folder


async def test_a_missing_speech_model_comes_with_its_command(tmp_path):
    found = (await examine(tmp_path, speech_model="large-v3"))["speech model"]
    assert found.level == "warning"
    assert "captions" in found.what
    assert "vr video fetch-models large-v3" in found.fix or not speech_available()


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("large-v3", "large-v3 (3,087 MB"),
        ("base.en", "base.en (145 MB"),
        ("my-own", "unknown size"),
    ],
)
async def test_what_can_be_fetched_is_offered_with_its_size(setting, says, tmp_path):
    if not speech_available():
        pytest.skip("no speech recognition installed")
    remedy = (await examine(tmp_path, speech_model=setting))["speech model"].remedy
    assert remedy.command == ("video", "fetch-models", setting)
    assert says in remedy.question


async def test_a_folder_of_ones_own_is_not_fetched(tmp_path):
    found = (await examine(tmp_path, speech_model=str(tmp_path / "mine")))["speech model"]
    assert (found.level, found.remedy) == ("warning", None)


async def test_a_speech_model_is_named_with_its_size(tmp_path):
    if not speech_available():
        pytest.skip("no speech recognition installed")
    model = whole_model(tmp_path / "whisper-mine")
    found = (await examine(tmp_path, speech_model=str(model)))["speech model"]
    assert (found.level, found.fix) == ("ok", "")
    assert found.what.startswith("mine, 2 MB")


async def test_an_incomplete_speech_model_is_a_fault(tmp_path):
    if not speech_available():
        pytest.skip("no speech recognition installed")
    model = whole_model(tmp_path / "whisper-mine")
    (model / "config.json").unlink()
    error = (await examine(tmp_path, speech_model=str(model)))["speech model"]
    assert isinstance(error, VrError)
    assert "lacks config.json" in error.message
    assert error.hint


async def test_reading_text_on_screen(tmp_path):
    assert (await examine(tmp_path, ocr="off"))["text on screen"].level == "ok"
    found = (await examine(tmp_path, ocr="nowhere"))["text on screen"]
    assert found.level == "warning"
    assert "nowhere" in found.what


async def test_the_media_library_is_looked_for(tmp_path):
    pytest.importorskip("av")
    assert (await examine(tmp_path))["media library"].level == "ok"
