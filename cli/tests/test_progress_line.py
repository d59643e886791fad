"""The progress of a command: what is told, and the time that is left."""

from __future__ import annotations

import pytest
from vr_cli.output import ProgressLine

Capture = pytest.CaptureFixture[str]


class Clock:
    """A clock that is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def told(reports: list[tuple[float, float, str]], capture: Capture, what: str = "") -> list[str]:
    """The lines of reports, each a time in seconds, a percentage and a message."""
    clock = Clock()
    line = ProgressLine(what, clock)
    for clock.now, percent, message in reports:
        line(percent, 100, message)
    line.finish()
    return capture.readouterr().err.splitlines()


def test_the_time_left_is_told_once_there_is_a_pace(capsys: Capture) -> None:
    reports = [(0, 0, "opening"), (1, 10, "hearing"), (10, 20, "seeing"), (60, 60, "writing")]
    assert told([*reports, (90, 100, "done")], capsys) == [
        "0 % opening", "10 % hearing", "20 % seeing, about 40 s left",
        "60 % writing, about 40 s left", "100 % done",
    ]  # fmt: skip


def test_work_that_begins_again_has_a_pace_of_its_own(capsys: Capture) -> None:
    reports = [(0, 50, "one"), (9, 90, "two"), (10, 0, "three"), (5000, 50, "four")]
    assert told(reports, capsys) == ["50 % one", "90 % two, about 2 s left"]


@pytest.mark.parametrize(
    ("elapsed", "left"), [(99, "about 2 min"), (495, "about 8 min"), (9900, "about 2 h 45 min")]
)
def test_a_long_time_is_told_in_minutes_and_hours(
    elapsed: float, left: str, capsys: Capture
) -> None:
    assert told([(0, 0, "one"), (elapsed, 50, "two")], capsys)[-1] == f"50 % two, {left} left"


def test_a_report_that_tells_the_time_left_is_left_alone(capsys: Capture) -> None:
    reports = [(0, 0, "one"), (50, 50, "two, about 1 h left")]
    assert told(reports, capsys) == ["0 % one", "50 % two, about 1 h left"]


def test_what_it_is_about_stands_first(capsys: Capture) -> None:
    assert told([(0, 5, "hearing")], capsys, "1/3 a.mp4") == ["1/3 a.mp4: 5 % hearing"]
