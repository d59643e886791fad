from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vr_kernel import Code, VrError
from vr_plugin_video.text.times import Window, format_time, parse_time, parse_window


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("93", 93), ("93.5", 93.5), ("1:33", 93), ("01:02:03", 3723), (" 0:05 ", 5), ("90:00", 5400)],
)
def test_times_as_people_write_them(text, seconds):
    assert parse_time(text, "start") == seconds


@given(st.integers(0, 359_999))
def test_a_formatted_time_reads_back(seconds):
    assert parse_time(format_time(seconds), "start") == seconds


def test_minutes_have_two_digits():
    assert [format_time(s) for s in (0, 47.9, 3599, 3600)] == ["00:00", "00:47", "59:59", "1:00:00"]


@pytest.mark.parametrize(
    "value", ["", "abc", "1:2:3:4", "-5", "1e9", "nan", "12:", -1, math.nan, math.inf]
)
def test_what_is_no_time_is_refused(value):
    with pytest.raises(VrError, match="end is not a time") as caught:
        parse_time(value, "end")
    assert caught.value.code is Code.INVALID_INPUT


@pytest.mark.parametrize(("start", "end"), [(10, 5), ("1:00", "0:59"), (5, 5)])
def test_a_reversed_window_is_refused(start, end):
    with pytest.raises(VrError, match="not after") as caught:
        parse_window(start, end)
    assert caught.value.category == "TIME_REVERSED"


@pytest.mark.parametrize("window", [Window(73), Window(0, 90), Window(80, 90)])
def test_a_window_outside_the_video_names_its_length(window):
    with pytest.raises(VrError, match="Outside") as caught:
        window.within(72.6)
    assert "01:12" in caught.value.hint


def test_an_end_within_a_second_of_the_videos_end_is_the_end():
    assert Window(10, 73).within(72.6) == (10, 72.6)
    assert Window().within(72.6) == (0, 72.6)
