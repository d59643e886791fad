"""Chapters, percentages, durations and addresses of YouTube: what takes no network."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vr_kernel import VrError
from vr_plugin_video.captions.transcripts import Segment
from vr_plugin_video.reactions.reading import JudgedComments, in_percent
from vr_plugin_video.youtube.addresses import parse_url, playlist_id
from vr_plugin_video.youtube.api_answers import seconds_of
from vr_plugin_video.youtube.chapters import parse_chapters
from vr_plugin_video.youtube.tracks import Track, best_transcript

LIST = "PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf"


def starts(description: str, duration: float = 0.0) -> list[tuple[float, str]]:
    return [(c.start, c.title) for c in parse_chapters(description, duration)]


@pytest.mark.parametrize(
    "description",
    [
        "0:00 One\n1:30 Two\n1:02:03 Three",
        "Links: see 3:33 of the talk\n\n00:00 - One\n01:30 \u2013 Two\n[1:02:03] Three\nThanks",
        "* 0:00: One\n* 1:30: Two\n* 1:02:03: Three",
        "1. 0:00 One\n2. 1:30 Two\n3. 1:02:03 Three",
        "One 0:00\nTwo (1:30)\nThree | 1:02:03",
    ],
)
def test_chapters_as_people_write_them(description):
    assert starts(description) == [(0, "One"), (90, "Two"), (3723, "Three")]


def test_chapters_end_where_the_next_begins():
    chapters = parse_chapters("0:00 One\n1:00 Two\n2:00 Three", 200)
    assert [(c.start, c.end) for c in chapters] == [(0, 60), (60, 120), (120, 200)]


@pytest.mark.parametrize(
    "description",
    [
        "",
        "0:00 One\n1:30 Two",
        "0:10 One\n1:30 Two\n2:00 Three",
        "0:00 One\n2:00 Two\n1:30 Three",
        "0:00 One\n0:00 Two\n1:30 Three",
        "0:00\n1:00\n2:00",
        "Meet at 0:00 sharp\nthen at 1:00 again\nand at 2:00 too",
        "0:00 One\n1:00 Two\n9:59:59 Behind the end",
    ],
)
def test_what_is_no_list_of_chapters(description):
    assert starts(description, 3600) == []


@given(st.text(alphabet="0123456789: \n-()abc\u00e9\u2013", max_size=200), st.floats(0, 1e5))
def test_chapters_of_any_text_rise_from_zero(description, duration):
    chapters = parse_chapters(description, duration)
    assert not chapters or chapters[0].start == 0
    assert all(a.end == b.start > a.start for a, b in pairwise(chapters))


@pytest.mark.parametrize(
    ("duration", "seconds"),
    [
        ("PT1H2M3S", 3723),
        ("PT15M33S", 933),
        ("P1DT2S", 86_402),
        ("P1W", 604_800),
        ("P0D", 0),
        ("", 0),
        ("PT1.5S", 0),
    ],
)
def test_durations(duration, seconds):
    assert seconds_of(duration) == seconds


SHARES = st.floats(0, 1e6, allow_nan=False)


@settings(max_examples=30)
@given(SHARES, SHARES, SHARES)
def test_percentages_add_up_to_a_hundred(positive, negative, neutral):
    found = in_percent(
        JudgedComments(
            sentiment_positive=positive,
            sentiment_negative=negative,
            sentiment_neutral=neutral,
            themes_positive=[],
            themes_critical=[],
            consensus="",
        )
    )
    shares = (found.sentiment_positive, found.sentiment_negative, found.sentiment_neutral)
    assert sum(shares) == pytest.approx(100)
    assert all(0 <= share <= 100 for share in shares)


@pytest.mark.parametrize(
    "url",
    [
        f"https://www.youtube.com/playlist?list={LIST}",
        f"https://www.youtube.com/watch?v=dQw4w9WgXcQ&list={LIST}&index=2",
        f"https://youtu.be/dQw4w9WgXcQ?list={LIST}",
        f"https://music.youtube.com/playlist?list={LIST}&si=x",
        f"youtube.com/playlist\\?list\\={LIST}",
    ],
)
def test_every_form_names_the_playlist(url):
    assert playlist_id(parse_url(url)) == LIST


@pytest.mark.parametrize(
    "url",
    [
        f"https://youtube.com.evil.com/playlist?list={LIST}",
        f"https://not-youtube.com/playlist?list={LIST}",
        "https://www.youtube.com/playlist?list=",
        "https://www.youtube.com/playlist?list=a%20b",
        f"https://www.youtube.com/playlist?list={'a' * 101}",
        "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
        "https://www.youtube.com/@channel",
    ],
)
def test_what_names_no_playlist_says_what_does(url):
    with pytest.raises(VrError, match="no playlist") as caught:
        playlist_id(parse_url(url))
    at_youtube = url.startswith("https://www.youtube.com/")
    assert caught.value.category == ("URL_PARSE_FAILED" if at_youtube else "URL_INVALID")
    assert "video_metadata" in caught.value.hint


@settings(max_examples=30)
@given(st.text(max_size=60))
def test_any_text_is_a_playlist_or_a_typed_error(text):
    with suppress(VrError):
        playlist_id(parse_url(f"https://youtube.com/{text}"))


def chosen(wanted: str, *languages: str, spoken: str = "") -> str:
    """Return the track that is read: `en`, or `en*` for recognised speech."""

    def track(name: str) -> Track:
        said = Segment(start=0, end=1, text=name)
        return Track(name.rstrip("*"), name.endswith("*"), lambda: [said])

    tracks = [track(name) for name in languages]
    return best_transcript("x", tracks, wanted, spoken).segments[0].text


@pytest.mark.parametrize(
    ("wanted", "languages", "expected"),
    [
        ("en", ["de", "en*", "en-GB"], "en-GB"),
        ("en", ["en-GB", "en"], "en"),
        ("en", ["de", "en*"], "en*"),
        ("", ["de", "en*"], "en*"),
        ("", ["de", "fr", "en*", "en-US"], "en-US"),
        ("", ["fr"], "fr"),
        ("pt", ["pt-BR"], "pt-BR"),
    ],
)
def test_the_captions_that_are_meant(wanted, languages, expected):
    assert chosen(wanted, *languages) == expected
    assert chosen("", "de", "fr", spoken="fr") == "fr"
