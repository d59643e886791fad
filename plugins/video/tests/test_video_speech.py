from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from videokit import failure, media_file, open_kernel, recorded, silence, speech_model
from vr_kernel import Code, VrError, load_config
from vr_plugin_video.speech.fetching import fetch_models
from vr_plugin_video.speech.speech_models import SpeechModel, find_model, hub_repository

JFK = (
    "And so, my fellow Americans, ask not what your country can do for you,"
    " ask what you can do for your country."
)


@pytest.fixture(scope="module")
def model() -> Path:
    return Path(speech_model())


def words(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


def errors(said: list[str], heard: list[str]) -> int:
    """Word edit distance (Levenshtein)."""
    row = list(range(len(heard) + 1))
    for i, word in enumerate(said, 1):
        last, row[0] = row[0], i
        for j, other in enumerate(heard, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (word != other))
    return row[-1]


@pytest.mark.slow
async def test_a_clear_voice_is_understood(tmp_path, model):
    path = media_file("jfk.flac")
    async with open_kernel(tmp_path, roots=[path.parent], speech_model=str(model)) as kernel:
        result = await kernel.call("video_transcript", file_path=str(path))
    assert errors(words(JFK), words(" ".join(s.text for s in result.segments))) <= 1
    assert (result.origin, result.language, result.model) == ("speech", "en", "whisper tiny.en")
    assert result.segments[-1].end <= 11.5


@pytest.mark.slow
async def test_a_transcript_is_computed_once(tmp_path, model):
    path = media_file("jfk.flac")
    async with open_kernel(tmp_path, roots=[path.parent], speech_model=str(model)) as kernel:
        first = await kernel.call("video_transcript", file_path=str(path))
        window = await kernel.call("video_transcript", file_path=str(path), end=5, format="srt")
        before = await kernel.services.journal.last_seq()
        again = await kernel.call("video_transcript", file_path=str(path))
        assert await kernel.services.journal.last_seq() == before
        heard: list[str] = []
        outcome = await kernel.run(
            "video_analyze", {"file_path": str(path)}, lambda _d, _t, message: heard.append(message)
        )
    assert not first.cached
    assert window.cached
    assert again.cached
    assert again.segments == first.segments
    assert outcome.error is None
    assert not any("Listening" in message for message in heard)
    assert outcome.data["transcript"]["segments"] == first.total


@pytest.mark.slow
async def test_silence_says_nothing(tmp_path, model):
    path = tmp_path / "silence.wav"
    path.write_bytes(silence(130))
    async with open_kernel(tmp_path, speech_model=str(model)) as kernel:
        result = await kernel.call("video_transcript", file_path=str(path))
        analysis = await kernel.call("video_analyze", file_path=str(path))
        assert await recorded(kernel, "VideoSegments") == []
    assert result.segments == []
    assert "Nothing is said" in result.limits[0]
    assert analysis.key_points == []


@pytest.mark.slow
async def test_a_sentence_goes_on_across_blocks(tmp_path, model):
    """The speech begins 116 s after the start, blocks end at 120 s."""
    import av

    target = tmp_path / "long.wav"
    with av.open(str(target), "w") as output:
        stream = output.add_stream("pcm_s16le", rate=16_000, layout="mono")
        (tmp_path / "silence.wav").write_bytes(silence(116))
        for path in (tmp_path / "silence.wav", media_file("jfk.flac")):
            resampler = av.AudioResampler("s16", "mono", 16_000)
            with av.open(str(path)) as source:
                for frame in source.decode(audio=0):
                    frame.pts = None
                    for piece in resampler.resample(frame):
                        piece.pts = None
                        output.mux(stream.encode(piece))
        output.mux(stream.encode(None))
    async with open_kernel(tmp_path, speech_model=str(model)) as kernel:
        result = await kernel.call("video_transcript", file_path=str(target))
    assert errors(words(JFK), words(" ".join(s.text for s in result.segments))) <= 1
    assert 115 < result.segments[0].start < 118
    assert 125 < result.segments[-1].end < 128


@pytest.mark.slow
async def test_a_cancelled_call_stops_and_leaves_nothing(tmp_path, model):
    path = media_file("talk.mp4")
    listening = asyncio.Event()
    loop = asyncio.get_running_loop()

    def report(_done, _total, message):
        if message.startswith("Listening"):
            loop.call_soon_threadsafe(listening.set)

    async with open_kernel(tmp_path, roots=[path.parent], speech_model=str(model)) as kernel:
        call = asyncio.create_task(kernel.run("video_transcript", {"file_path": str(path)}, report))
        await listening.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await kernel.services.journal.last_seq() == 0
        assert (await kernel.services.cache.stats()).entries == 0
        assert (await kernel.call("infra_cache")).total_files == 0


async def test_an_english_model_says_so(tmp_path, model):
    path = media_file("jfk.flac")
    async with open_kernel(tmp_path, roots=[path.parent], speech_model=str(model)) as kernel:
        error = await failure(kernel, "video_transcript", file_path=str(path), language="de")
    assert error.code is Code.UNSUPPORTED
    assert "vr video fetch-models base" in error.hint


@pytest.mark.slow
async def test_the_talk_is_heard_slide_by_slide(tmp_path, model):
    path = media_file("talk.mp4")
    truth = json.loads(media_file("talk.truth.json").read_text())
    async with open_kernel(tmp_path, roots=[path.parent], speech_model=str(model)) as kernel:
        result = await kernel.call("video_analyze", file_path=str(path))
        moments = await recorded(kernel, "VideoSegments")
    assert [m.seconds for m in result.timestamps] == pytest.approx(
        [slide["start"] for slide in truth], abs=0.1
    )
    assert result.topics == [slide["title"] for slide in truth]
    assert len(result.slides) == len(truth)
    assert [slide.start for slide in result.slides] == pytest.approx(
        [slide["start"] for slide in truth], abs=1.0
    )
    spoken = [m for m in moments if m["origin"] == "speech"]
    assert [m["title"] for m in spoken] == [slide["title"] for slide in truth]
    for moment, slide in zip(spoken, truth, strict=True):
        assert slide["start"] - 0.5 <= moment["start"] < moment["end"] <= slide["end"] + 0.5
        # Numbers may be written as digits; most other words must be right.
        heard = set(words(moment["text"]))
        assert len(set(words(slide["speech"])) & heard) >= 0.5 * len(set(words(slide["speech"])))


def run_fetch(folder: Path, *arguments: str) -> VrError | None:
    config = load_config({"VR_STATE_DIR": str(folder / "state")}, working_folder=folder)
    result = CliRunner().invoke(fetch_models, [*arguments], obj=config)
    if result.exception is not None and not isinstance(result.exception, VrError):
        raise result.exception
    return result.exception


def test_a_model_is_copied_and_found(tmp_path, model):
    assert run_fetch(tmp_path, "tiny.en", "--from", str(model)) is None
    models = tmp_path / "state" / "models"
    assert find_model("tiny.en", models) == SpeechModel("tiny.en", models / "whisper-tiny.en")
    assert find_model("auto", models, "en").name in ("tiny.en", "base", "small", "tiny", "medium")
    assert [path.name for path in models.iterdir()] == ["whisper-tiny.en"]
    assert run_fetch(tmp_path, "tiny.en", "--from", str(model.parent)) is not None
    assert run_fetch(tmp_path, "tiny.en", "--from", str(models)) is None


def test_a_model_that_a_package_brings_is_found_and_needs_no_network(tmp_path, model, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    models = tmp_path / "state" / "models"
    assert find_model("tiny.en", models).name == "tiny.en"
    assert find_model("auto", models).folder.is_dir()
    assert run_fetch(tmp_path, "tiny.en") is None
    assert find_model("tiny.en", models).folder == models / "whisper-tiny.en"


def test_a_damaged_model_is_not_installed(tmp_path, model):
    copy = tmp_path / "copy"
    shutil.copytree(model, copy)
    weights = copy / "model.bin"
    content = bytearray(weights.read_bytes())
    content[1000] ^= 1
    weights.write_bytes(content)
    error = run_fetch(tmp_path, "tiny.en", "--from", str(copy))
    assert error is not None
    assert error.category == "MODEL_DAMAGED"
    (copy / "tokenizer.json").unlink()
    error = run_fetch(tmp_path, "tiny.en", "--from", str(copy))
    assert error is not None
    assert "tokenizer.json" in error.message
    assert list((tmp_path / "state" / "models").iterdir()) == []


async def test_a_damaged_model_is_not_used(tmp_path, model):
    path = media_file("jfk.flac")
    damaged = tmp_path / "state" / "models" / "whisper-tiny.en"
    shutil.copytree(model, damaged)
    with (damaged / "model.bin").open("r+b") as weights:
        weights.seek(5000)
        weights.write(b"damage")
    async with open_kernel(tmp_path, roots=[path.parent], speech_model="tiny.en") as kernel:
        error = await failure(kernel, "video_transcript", file_path=str(path))
    assert error.category == "MODEL_DAMAGED"
    assert "vr video fetch-models tiny.en" in error.hint


@pytest.mark.parametrize("name", ["../evil", "a/b", "", "x" * 80])
def test_a_strange_name_is_refused(tmp_path, name):
    error = run_fetch(tmp_path, name)
    assert error is not None
    assert error.code is Code.INVALID_INPUT


@pytest.mark.slow
def test_without_the_network_it_says_how_else(tmp_path):
    environment = {**os.environ, "VR_STATE_DIR": str(tmp_path), "HF_ENDPOINT": "http://127.0.0.1:9"}
    environment["HF_HUB_CACHE"] = str(tmp_path / "hub")
    program = (
        "from click.testing import CliRunner\n"
        "from vr_kernel import load_config\n"
        "from vr_plugin_video.speech.fetching import fetch_models\n"
        "error = CliRunner().invoke(fetch_models, ['base'], obj=load_config()).exception\n"
        "print(error.code.value, error.category, error.hint)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.startswith("UNAVAILABLE NETWORK_ERROR")
    assert "fetch-models base --from FOLDER" in done.stdout
    assert list((tmp_path / "models").iterdir()) == []


def test_where_models_come_from():
    assert hub_repository("base.en") == "Systran/faster-whisper-base.en"
    assert hub_repository("distil-small.en") == "Systran/faster-distil-whisper-small.en"
    assert hub_repository("large-v3-turbo") == "mobiuslabsgmbh/faster-whisper-large-v3-turbo"
