"""Videos that are longer than a model takes: windows, absolute times, one analysis."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from fractions import Fraction
from itertools import pairwise
from math import floor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_video_gemini import asked, key_for
from videokit import failure, open_kernel, recorded
from vr_kernel import Kernel, Reply
from vr_plugin_video.analyses.merging import Watched, merged_moments
from vr_plugin_video.analyses.prompt import SeenMoment, SeenVideo
from vr_plugin_video.analyses.windows import OVERLAP_S, cut_windows, longest_window, tokens_a_second
from vr_plugin_video.text.times import Window, format_time
from vr_testing import FakeGemini, Fault
from vr_testing.gemini.request import look_up

LENGTH_S = 10_800
CHAPTERS_S = (0, 3_600, 7_180)
MOMENTS_S = (0, 61, 1_799, 3_598, 3_605, 3_661, 5_400, 7_185, 7_325, 10_795)
"""Times at which something happens; at 3,605 and 7,185 two windows overlap."""
WINDOWS_S = [(0, 3_610), (3_600, 7_190), (7_180, LENGTH_S)]
WHOLE = {
    "title": "Three hours",
    "summary": "All of it.",
    "key_points": ["It is long"],
    "topics": ["time"],
    "sentiment": "calm",
}


@pytest.fixture(scope="module")
def lecture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three hours of one small picture every ten seconds, in three chapters."""
    import av
    import numpy as np

    path = tmp_path_factory.mktemp("long") / "lecture.mkv"
    chapters = [
        {
            "id": n,
            "start": a,
            "end": b,
            "time_base": Fraction(1),
            "metadata": {"title": f"Part {n}"},
        }
        for n, (a, b) in enumerate(pairwise([*CHAPTERS_S, LENGTH_S]), 1)
    ]
    with av.open(str(path), "w") as output:
        stream = output.add_stream("libx264", rate=1, options={"preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = 64, 36, "yuv420p"
        output.set_chapters(chapters)
        for second in [*range(0, LENGTH_S, 10), LENGTH_S - 1]:
            tone = np.full((36, 64, 3), second % 200, np.uint8)
            frame = av.VideoFrame.from_ndarray(tone, format="rgb24")
            frame.pts, frame.time_base = second, Fraction(1)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return path


@pytest.fixture
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini() as fake:
        yield fake


@pytest.fixture
async def kernel(tmp_path: Path, lecture: Path, gemini: FakeGemini) -> AsyncIterator[Kernel]:
    async with open_kernel(tmp_path, roots=[lecture.parent], environ=key_for(gemini)) as opened:
        yield opened


def window_of(request: Any) -> tuple[int, int] | None:
    """Start and end of what a request lets a model watch; None when it watches nothing."""
    if not request.media:
        return None
    cut = look_up(request.media[0], "videoMetadata", {})
    start, end = (look_up(cut, name, "0s") for name in ("startOffset", "endOffset"))
    return int(start[:-1]), int(end[:-1]) or LENGTH_S


def report(request: Any, *, relative: bool = False) -> dict[str, Any]:
    """Answer as a model would about the window that it watches, or about all of them."""
    window = window_of(request)
    if window is None:
        return WHOLE
    start, end = window
    return {
        **WHOLE,
        "title": f"From {start}",
        "timestamps": [
            {
                "time": format_time(at - start if relative else at),
                "description": f"Moment {at}",
                "quote": "",
            }
            for at in MOMENTS_S
            if start <= at <= end
        ],
    }


def watched(gemini: FakeGemini) -> list[tuple[int, int]]:
    """The windows that were asked for, in order of time."""
    return sorted(window for request in asked(gemini) if (window := window_of(request)))


async def analyse(kernel: Kernel, lecture: Path, **arguments: Any) -> Any:
    return await kernel.call("video_analyze", file_path=str(lecture), **arguments)


async def test_times_are_right_to_the_second(kernel, gemini, lecture):
    gemini.answer(report)
    analysis = await analyse(kernel, lecture, instruction="When?")
    assert watched(gemini) == WINDOWS_S
    assert [round(moment.seconds) for moment in analysis.timestamps] == list(MOMENTS_S)
    assert [moment.description for moment in analysis.timestamps] == [
        f"Moment {at}" for at in MOMENTS_S
    ]
    assert (analysis.title, analysis.summary) == ("Three hours", "All of it.")
    assert not analysis.partial
    assert analysis.usage == gemini.bill
    assert analysis.usage.calls == len(WINDOWS_S) + 1
    last = asked(gemini)[-1]
    assert not last.media
    assert "When?" in last.text
    assert "Moment 5400" in last.text
    assert len(await recorded(kernel, "VideoAnalyses")) == 1


async def test_it_is_paid_once(kernel, gemini, lecture):
    gemini.answer(report)
    await analyse(kernel, lecture)
    again = await analyse(kernel, lecture)
    assert again.cached
    assert len(asked(gemini)) == len(WINDOWS_S) + 1


async def test_times_that_count_from_the_window_are_corrected(kernel, gemini, lecture):
    gemini.answer(lambda request: report(request, relative=True))
    analysis = await analyse(kernel, lecture)
    assert [round(moment.seconds) for moment in analysis.timestamps] == list(MOMENTS_S)
    limits = " ".join(analysis.limits)
    assert "counted times from 1:00:00" in limits
    assert "counted times from 1:59:40" in limits


async def test_what_fits_is_one_call(kernel, gemini, lecture):
    gemini.answer(report)
    await analyse(kernel, lecture, media_resolution="low")
    await analyse(kernel, lecture, start="1:00:00", end="2:00:00")
    assert watched(gemini) == [(0, LENGTH_S), (3_600, 7_200)]
    assert len(asked(gemini)) == 2


async def test_settings_make_windows_shorter(tmp_path, gemini, lecture):
    gemini.answer(report)
    settings = {"longest_window_s": "1200"}
    async with open_kernel(
        tmp_path, roots=[lecture.parent], environ=key_for(gemini), **settings
    ) as kernel:
        with gemini.hold():
            call = asyncio.create_task(analyse(kernel, lecture, media_resolution="low"))
            await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == 3)
        analysis = await call
    windows = watched(gemini)
    assert len(windows) == 10
    assert max(end - start for start, end in windows) <= 1_200
    assert [round(moment.seconds) for moment in analysis.timestamps] == list(MOMENTS_S)
    assert gemini.peak_in_flight == 3


async def test_a_window_that_fails_is_named_and_paid_alone_later(kernel, gemini, lecture):
    gemini.answer(report)
    second = WINDOWS_S[1]
    gemini.fail(Fault.status(400), when=lambda request: window_of(request) == second, times=None)
    analysis = await analyse(kernel, lecture)
    assert analysis.partial
    assert "Not watched: 1:00:00 to 1:59:50" in " ".join(analysis.limits)
    times = [at for at in MOMENTS_S if not 3_610 < at < 7_180]
    assert [round(moment.seconds) for moment in analysis.timestamps] == times
    gemini.heal()
    gemini.forget()
    gemini.answer(report)
    again = await analyse(kernel, lecture)
    assert not again.cached
    assert not again.partial
    assert watched(gemini) == [second]
    assert [round(moment.seconds) for moment in again.timestamps] == list(MOMENTS_S)


async def test_when_every_window_fails_the_call_does(kernel, gemini, lecture):
    gemini.fail(Fault.prompt_blocked(), times=None)
    error = await failure(kernel, "video_analyze", file_path=str(lecture))
    assert error.category == "SAFETY_BLOCKED"
    assert await recorded(kernel, "VideoAnalyses") == []


async def test_parts_that_nobody_puts_together_stand_one_after_the_other(kernel, gemini, lecture):
    gemini.answer(report)
    gemini.fail(Fault.status(400), when=lambda request: not request.media, times=None)
    analysis = await analyse(kernel, lecture)
    assert "0:00 to 1:00:10" in analysis.summary
    assert "The parts stand one after the other" in " ".join(analysis.limits)
    assert [round(moment.seconds) for moment in analysis.timestamps] == list(MOMENTS_S)
    gemini.heal()
    gemini.forget()
    gemini.answer(report)
    assert (await analyse(kernel, lecture)).summary == "All of it."
    assert watched(gemini) == []


async def test_the_callers_own_form_is_filled_by_all_windows(kernel, gemini, lecture):
    form = {
        "type": "object",
        "properties": {"speakers": {"type": "array", "items": {"type": "string"}}},
        "required": ["speakers"],
    }

    def speakers(request: Any) -> dict[str, Any]:
        window = window_of(request)
        return {"speakers": [f"who speaks at {window[0]}"] if window else ["Ada", "Grace"]}

    gemini.answer(speakers)
    analysis = await analyse(kernel, lecture, output_schema=form)
    assert analysis.custom == {"speakers": ["Ada", "Grace"]}
    last = asked(gemini)[-1]
    assert all(f"who speaks at {start}" in last.text for start, _ in WINDOWS_S)
    assert last.schema["properties"].keys() == {"speakers"}


async def test_windows_that_were_paid_survive_a_cancelled_call(kernel, gemini, lecture):
    gemini.answer(report)
    last = WINDOWS_S[-1]
    gemini.fail(Fault.hang(), when=lambda request: window_of(request) == last, times=None)
    seen: list[str] = []
    two = asyncio.Event()

    def listen(_done: float, _total: float | None, message: str) -> None:
        seen.append(message)
        if message == "A model watched 2 of 3 parts":
            two.set()

    call = asyncio.create_task(kernel.run("video_analyze", {"file_path": str(lecture)}, listen))
    await two.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert "A model is watching the video in 3 parts" in seen
    gemini.heal()
    gemini.forget()
    gemini.answer(report)
    analysis = await analyse(kernel, lecture)
    assert watched(gemini) == [last]
    assert [round(moment.seconds) for moment in analysis.timestamps] == list(MOMENTS_S)


@given(
    st.floats(0, 100_000),
    st.floats(1, 100_000),
    st.floats(60, 5_000),
    st.lists(st.floats(0, 200_000)),
)
def test_windows_cover_everything_and_none_is_too_long(start, length, longest, chapters):
    windows = cut_windows(start, start + length, longest, chapters)
    assert windows[0].start == start
    assert windows[-1].end == start + length
    assert all(window.end - window.start <= longest + 1e-6 for window in windows)
    assert all(b.start - a.start > 0 for a, b in pairwise(windows))
    assert all(a.end - b.start == pytest.approx(OVERLAP_S) for a, b in pairwise(windows))
    assert len(windows) <= length // floor(longest - OVERLAP_S) + 1


def test_what_is_not_known_to_end_is_one_window():
    assert len(cut_windows(5, float("inf"), 60)) == 1


def test_an_hour_fits_and_three_at_low_resolution():
    budget = 1_060_000
    assert 3_600 <= longest_window(budget, tokens_a_second(None, None)) < 3_700
    assert 10_800 <= longest_window(budget, tokens_a_second(None, "low")) < 11_000
    assert longest_window(budget, tokens_a_second(2, None)) < 2_000
    assert longest_window(budget, tokens_a_second(None, None, pictures=False)) > 30_000
    assert longest_window(budget, 290, 600) == 600


def seen(start: float, end: float, *times: str) -> Watched:
    """A report of a window with moments at those times, each with words of its own."""
    moments = [SeenMoment(time=time, description=f"{start} {time}", quote="") for time in times]
    report = SeenVideo(**{**WHOLE, "timestamps": moments})
    return Watched(Window(start, end), report, Reply(text="", model="gemini/a"))


@pytest.mark.parametrize(
    ("times", "found"),
    [
        (("1:00:00", "1:30:00"), [3600, 5400]),
        (("0:00", "30:00", "1:00:05"), [3600, 5400, 7205]),
        (("30:00", "1:30:00", "soon"), [5400]),
        (("9:00:00",), []),
        ((), []),
    ],
)
def test_only_times_that_fit_nowhere_else_count_from_the_window(times, found):
    merged = merged_moments([seen(3_600, 7_210, *times)])
    assert [moment.seconds for moment in merged.moments] == found


def test_two_windows_name_a_moment_of_their_overlap_once():
    first = seen(0, 3_610, "0:10", "1:00:04")
    second = seen(3_600, 7_210, "1:00:05", "1:00:08", "1:00:30")
    merged = merged_moments([first, second])
    assert [moment.seconds for moment in merged.moments] == [10, 3604, 3608, 3630]


MEASURE = """
import asyncio, re, sys
from pathlib import Path
from vr_kernel import Kernel, load_config
from vr_plugin_video import plugin

async def main(path):
    async with Kernel.open(load_config(), {"video": plugin}, roots=[path.parent]) as kernel:
        analysis = await kernel.call("video_analyze", file_path=str(path))
        print(len(analysis.timestamps))

asyncio.run(main(Path(sys.argv[1])))
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_three_hours_take_little_memory(tmp_path, gemini, lecture):
    gemini.answer(report)
    variables = {f"VR_{name}_DIR": str(tmp_path / name) for name in ("STATE", "CONFIG", "CACHE")}
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(lecture)],
        env={**os.environ, **key_for(gemini), **variables},
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    moments, peak_kb = done.stdout.split()
    assert int(moments) == len(MOMENTS_S)
    peak_mb = int(peak_kb) / 1024
    print(json.dumps({"peak_mb": round(peak_mb)}))  # noqa: T201
    assert peak_mb <= 250
