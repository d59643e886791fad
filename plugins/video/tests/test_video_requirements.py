"""Paid tools check what they need before anything is paid, by the bill of the fake."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_video_gemini import SEEN, key_for
from tones import Tone
from videokit import failure, open_kernel, recorded, silence
from vr_kernel import Code
from vr_testing import FakeGemini

PAID_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("video_analyze", {}),
    ("video_transcript", {"engine": "gemini"}),
    ("video_create_session", {}),
]


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as fake:
        fake.answer(SEEN, when=lambda request: "title" in (request.schema or {})["properties"])
        yield fake


@pytest.fixture(scope="module")
def recording() -> bytes:
    """Four seconds of pictures and sound."""
    return Tone(4.0, rate=8000, layout="mono", pictures=4.0).encode()


@pytest.fixture
def film(tmp_path: Path, recording: bytes) -> Path:
    path = tmp_path / "film.mp4"
    path.write_bytes(recording)
    return path


@pytest.mark.parametrize(("tool", "arguments"), PAID_CALLS)
async def test_without_a_decoder_one_line_installs_it_and_nothing_is_paid(
    tool: str, arguments: dict[str, Any], gemini, film, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "av", None)
    async with open_kernel(tmp_path, environ=key_for(gemini)) as kernel:
        error = await failure(kernel, tool, file_path=str(film), **arguments)
    assert (error.code, error.category) == (Code.UNAVAILABLE, "EXTRA_MISSING")
    assert error.hint == 'Install it: pip install "video-research[local]"'
    assert gemini.requests == []


async def test_without_a_decoder_a_batch_says_so_of_each_file_and_pays_nothing(
    gemini, film, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "av", None)
    async with open_kernel(tmp_path, environ=key_for(gemini)) as kernel:
        batch = await kernel.call("video_batch_analyze", directory=str(film.parent))
    (item,) = batch.items
    assert "pip install" in item.error.hint
    assert gemini.requests == []


@pytest.mark.parametrize(("tool", "arguments"), PAID_CALLS)
async def test_a_model_that_takes_no_such_media_is_told_before_it_is_sent_any(
    tool: str, arguments: dict[str, Any], gemini, film, tmp_path
):
    environ = {**key_for(gemini), "VR_MODELS__VISION": '["gemini/gemini-embedding-2"]'}
    async with open_kernel(tmp_path, environ=environ) as kernel:
        error = await failure(kernel, tool, file_path=str(film), **arguments)
    assert (error.code, error.category) == (Code.UNSUPPORTED, "MEDIA_UNSUPPORTED")
    assert "vision" in error.hint
    assert gemini.requests == []


@pytest.mark.parametrize(("tool", "arguments"), PAID_CALLS)
async def test_with_a_state_folder_that_cannot_be_written_nothing_is_paid(
    tool: str, arguments: dict[str, Any], gemini, film, tmp_path
):
    (tmp_path / "state").touch()
    async with open_kernel(tmp_path, environ=key_for(gemini)) as kernel:
        error = await failure(kernel, tool, file_path=str(film), **arguments)
    assert (error.code, error.category) == (Code.UNAVAILABLE, "STATE_UNAVAILABLE")
    assert str(tmp_path / "state") in error.hint
    assert gemini.bill.calls == 0


async def test_what_the_cache_is_to_give_again_is_not_paid_where_it_cannot(gemini, film, tmp_path):
    (tmp_path / "cache").touch()
    async with open_kernel(tmp_path, environ=key_for(gemini)) as kernel:
        error = await failure(kernel, "video_analyze", file_path=str(film))
        assert (error.code, error.category) == (Code.UNAVAILABLE, "STATE_UNAVAILABLE")
        assert str(tmp_path / "cache") in error.hint
        assert gemini.bill.calls == 0
        local = await kernel.call("video_analyze", file_path=str(film), engine="local")
        assert local.engine == "local"
        fresh = await kernel.call("video_analyze", file_path=str(film), use_cache=False)
    assert fresh.usage == gemini.bill


@pytest.mark.parametrize("name", ["rows.db", "journal.db", "usage.db"])
async def test_a_session_that_could_not_be_kept_is_not_paid_for(name: str, gemini, film, tmp_path):
    (tmp_path / "state" / name).mkdir(parents=True)
    async with open_kernel(tmp_path, environ=key_for(gemini)) as kernel:
        error = await failure(kernel, "video_create_session", file_path=str(film))
    assert (error.code, error.category) == (Code.UNAVAILABLE, "STATE_UNAVAILABLE")
    assert gemini.requests == []
    assert gemini.bill.calls == 0


@pytest.mark.parametrize("missing", ["PIL", "faster_whisper", "numpy", "recognizer"])
async def test_what_only_helps_is_not_asked_for(missing: str, gemini, film, tmp_path, monkeypatch):
    """A model needs neither pictures nor speech recognition here: it answers, and it is kept."""
    if missing != "recognizer":  # there is none in these kernels
        monkeypatch.setitem(sys.modules, missing, None)
    async with open_kernel(tmp_path, environ=key_for(gemini)) as kernel:
        analysis = await kernel.call("video_analyze", file_path=str(film))
        assert analysis.usage == gemini.bill
        assert len(await recorded(kernel, "VideoAnalyses")) == 1


async def test_the_engine_that_pays_nothing_names_the_line_for_its_speech_model(
    gemini, tmp_path, monkeypatch
):
    talk = tmp_path / "talk.wav"
    talk.write_bytes(silence(2, 1000))
    monkeypatch.setitem(sys.modules, "faster_whisper", None)
    async with open_kernel(tmp_path, environ=key_for(gemini)) as kernel:
        error = await failure(kernel, "video_transcript", file_path=str(talk), engine="local")
    assert error.category in {"EXTRA_MISSING", "MODEL_MISSING"}
    assert "pip install" in error.hint or "fetch-models" in error.hint
    assert gemini.requests == []
