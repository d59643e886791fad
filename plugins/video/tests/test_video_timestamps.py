"""The times that a model gives are checked by its quotes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vr_plugin_video.analyses.prompt import SeenMoment
from vr_plugin_video.analyses.timestamps import TOLERANCE_S, check_moments, claimed_moments
from vr_plugin_video.captions.transcripts import Segment
from vr_plugin_video.models import Moment

SPOKEN = [
    Segment(start=0, end=6, text="Welcome. Today I will talk about"),
    Segment(start=6, end=12, text="vector search in practice."),
    Segment(start=100, end=106, text="An embedding is a list of numbers,"),
    Segment(start=106, end=112, text="typically from 384 to 3072 dimensions."),
]
SHOWN = [
    Segment(start=0, end=90, text="Vector Search\nDana Example, Demo Conference"),
    Segment(start=90, end=400, text="What is an embedding?\nSimilar texts are close together"),
]


def moment(seconds: float, quote: str) -> Moment:
    minutes, rest = divmod(int(seconds), 60)
    time = f"{minutes:02d}:{rest:02d}"
    return Moment(time=time, seconds=seconds, description="what happens", quote=quote)


def check(seconds: float, quote: str) -> Moment:
    return check_moments([moment(seconds, quote)], SPOKEN, SHOWN).moments[0]


@pytest.mark.parametrize("seconds", [80, 100, 119])
def test_a_quote_near_its_time_is_verified_and_keeps_it(seconds):
    checked = check(seconds, "An embedding is a list of numbers typically from 384")
    assert (checked.status, checked.seconds) == ("verified", seconds)
    assert checked.original_time is None


def test_a_quote_from_elsewhere_moves_the_moment():
    checked = check(301, "I will talk about vector search")
    assert (checked.status, checked.original_time) == ("moved", "05:01")
    assert 0 < checked.seconds < 6
    assert checked.time == f"00:0{int(checked.seconds)}"


def test_a_quote_that_nobody_said_keeps_its_time_and_is_reported():
    for quote in (
        "An embedding is not a list of numbers",
        "from 384 to 4096 dimensions",
        "Goodbye",
    ):
        result = check_moments([moment(100, quote)], SPOKEN, SHOWN)
        assert result.moments[0].status == "not_found"
        assert (result.moments[0].seconds, result.moments[0].original_time) == (100, None)
        assert len(result.notes) == 1


def test_words_on_a_slide_are_right_as_long_as_it_is_shown():
    for seconds in (75, 90, 250, 415):
        assert check(seconds, "Similar texts are close together").status == "verified"
    checked = check(20, "Similar texts are close together")
    assert (checked.status, checked.seconds, checked.original_time) == ("moved", 90, "00:20")


def test_nothing_to_check_against_or_to_check():
    assert check_moments([moment(5, "any words")], [], []).moments[0].status == "unchecked"
    assert check(5, "").status == ""
    only_slides = check_moments([moment(5, "Dana Example")], [], SHOWN)
    assert only_slides.moments[0].status == "verified"


def test_corrected_moments_stand_in_the_order_of_time():
    said = [moment(110, "typically from 384 to 3072 dimensions"), moment(300, "Today I will talk")]
    checked = check_moments(said, SPOKEN, SHOWN).moments
    assert [m.status for m in checked] == ["moved", "verified"]
    assert checked[0].seconds < checked[1].seconds


def test_a_moment_without_a_quote_says_nothing_of_the_check():
    written = Moment(time="00:05", seconds=5, description="d").model_dump(mode="json")
    assert written == {"time": "00:05", "seconds": 5.0, "description": "d"}
    written = check(301, "I will talk about vector search").model_dump(mode="json")
    assert (written["status"], written["original_time"]) == ("moved", "05:01")


@pytest.mark.parametrize("time", ["-5", "soon", "", "nan", "99:99:99", "07:00"])
def test_times_outside_the_video_are_left_out_and_said(time):
    seen = [SeenMoment(time=t, description="d", quote="q") for t in ("00:05", time)]
    claimed = claimed_moments(seen, 0, 72.6)
    assert [m.seconds for m in claimed.moments] == [5]
    assert claimed.notes


def test_a_time_just_behind_the_end_is_the_end():
    seen = [SeenMoment(time="1:20", description="d", quote="q")]
    claimed = claimed_moments(seen, 0, 72.6)
    assert [(m.time, m.seconds) for m in claimed.moments] == [("01:12", 72.6)]
    assert claimed_moments(seen, 0, None).moments[0].seconds == 80


@settings(max_examples=30)
@given(
    st.lists(
        st.builds(
            moment,
            st.floats(0, 500),
            st.sampled_from([s.text for s in (*SPOKEN, *SHOWN)]) | st.text(max_size=30),
        ),
        max_size=6,
    )
)
def test_every_moment_gets_a_status_and_a_time(moments):
    checked = check_moments(moments, SPOKEN, SHOWN).moments
    assert len(checked) == len(moments)
    assert [m.seconds for m in checked] == sorted(m.seconds for m in checked)
    for one in checked:
        assert (one.status == "") == (not one.quote)
        assert (one.original_time is not None) == (one.status == "moved")
        if one.status == "verified":
            assert any(s.start - TOLERANCE_S <= one.seconds <= s.end + TOLERANCE_S for s in SHOWN)
