"""The page of an analysis as a text: whole, safe whatever it holds, and of bounded size."""

from __future__ import annotations

import json
import re
from functools import cache
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lecture import Lecture
from page_samples import HOSTILE, ID, TODAY, WATCH, analysis, page_of
from videokit import failure, open_kernel
from vr_kernel import Code, visible
from vr_kernel.files import Artifacts
from vr_plugin_video.analyses.report import report_of
from vr_plugin_video.captions.transcripts import Segment
from vr_plugin_video.models import Moment, Scene
from vr_plugin_video.page.album import Album, collect
from vr_plugin_video.page.markup import element
from vr_plugin_video.page.player import Player
from vr_plugin_video.sources import Source
from vr_plugin_video.text.times import Window
from vr_plugin_video.tools.export import VideoExport
from vr_testing import FakeGemini

texts = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40), st.builds("".join, st.lists(
    st.sampled_from([*HOSTILE, "<", ">", '"', "'", "&", "=", "-->", "]]>", " ", "{{", "}}"]),
    max_size=6,
)))  # fmt: skip


class Reading(HTMLParser):
    """The elements and the text of a page, as a browser reads them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data):
        self.texts.append(data)

    def named(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def shape(self) -> list[tuple[str, tuple[str, ...]]]:
        """Elements and the names of their attributes, without times at the start of lines."""
        times = ("a", ("class", "href", "data-at"))
        shapes = ((tag, tuple(attributes)) for tag, attributes in self.elements)
        return [shape for shape in shapes if shape != times]


def test_it_says_all_of_an_analysis_without_its_script():
    moment = Moment(time="01:33", seconds=93, description="A jump", quote="up", status="verified")
    page = page_of(analysis("Foxes", timestamps=[moment]))
    said = " ".join(Reading(page).texts)
    for text in ("Foxes", "A jump", "up", "The quote was found at this time.", "Gemini (Foxes)"):
        assert text in said
    assert "10:00" in said
    assert TODAY.isoformat() in said


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("verified", "was found at this time"),
        ("moved", "the model said 03:20"),
        ("not_found", "was not found"),
        ("unchecked", "Not checked"),
    ],
)
def test_what_became_of_a_quote_is_said_in_words(status, words):
    moment = Moment(time="1", seconds=1, description="d", status=status, original_time="03:20")
    assert words in page_of(analysis(timestamps=[moment]))


def test_every_time_of_a_youtube_video_is_a_deep_link():
    made = analysis(summary="At first.\n01:02 Then", key_points=["[1:00:07] So"])
    links = {
        at["data-at"]: at["href"] for at in Reading(page_of(made)).named("a") if "data-at" in at
    }
    assert links == {
        at: f"{WATCH}&t={int(float(at))}s" for at in ("62.0", "3607.0", "0.0", "93.0", "5.0", "1.0")
    }


def test_the_page_of_a_youtube_video_can_load_nothing():
    reading = Reading(page_of(analysis()))
    assert "media-src" not in policy_of(reading)
    assert not reading.named("video")


def test_a_file_is_looked_for_where_it_is_and_beside_the_page(tmp_path):
    path = tmp_path / "a talk & more.mp4"
    path.write_bytes(b"")
    with path.open("rb") as file:
        source = Source("0" * 64, str(path), "a talk", file)
        far, near = (Player.of(source, folder) for folder in (Path("/artifacts"), tmp_path))
        reading = Reading(page_of(analysis(), source))
    assert far.addresses == (path.as_uri(), "a%20talk%20%26%20more.mp4")
    assert near.addresses == ("a%20talk%20%26%20more.mp4",)
    assert [each["src"] for each in reading.named("source")] == list(far.addresses)
    assert "media-src file: blob:" in policy_of(reading)
    assert "cannot be played" in " ".join(reading.texts)


def test_a_video_on_the_web_is_not_asked_for_before_it_is_played(tmp_path):
    path = tmp_path / "0f.mp3"
    path.write_bytes(b"")
    with path.open("rb") as file:
        source = Source("0" * 64, "https://example.org/talk.mp3?a=1&b=2", "talk", file)
        reading = Reading(page_of(analysis(), source))
    assert reading.named("audio") == [{"controls": "", "preload": "none"}]
    assert [each["src"] for each in reading.named("source")] == [source.url]


@settings(max_examples=30, deadline=None)
@given(texts)
def test_no_address_becomes_markup(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "web.mp4"
    path.write_bytes(b"")
    with path.open("rb") as file:
        source = Source("0" * 64, f"https://example.org/{text}", "web", file)
        tame = Source("0" * 64, "https://example.org/talk.mp4", "web", file)
        page, plain = (page_of(analysis(source=each.url), each) for each in (source, tame))
    assert Reading(page).shape == Reading(plain).shape


def pictured(uri: str) -> Album:
    return Album({uri: "data:image/jpeg;base64,AAAA"})


@cache
def tame_page() -> Reading:
    return Reading(page_of(analysis("plain"), album=pictured("plain")))


@settings(max_examples=30)
@given(texts.map("x{}".format))
def test_no_text_becomes_markup(text):
    page = page_of(analysis(text), album=pictured(text))
    reading, plain = Reading(page), tame_page()
    assert reading.shape == plain.shape
    assert len(re.findall(r"</?script\b", page, re.IGNORECASE)) == 2
    assert not [n for _, names in reading.shape for n in names if n.startswith(("on", "style"))]
    assert {a["href"].partition(":")[0] for a in reading.named("a")} == {"https"}
    assert policy_of(reading) == policy_of(plain)
    assert page.encode("utf-8", "replace")


@given(texts, texts)
def test_an_element_holds_what_it_was_given(text, value):
    written = element("p", text, title=value)
    reading = Reading(written)
    assert "".join(reading.texts) == visible(text)
    assert reading.elements == [("p", {"title": visible(value)} if value else {})]


def test_nothing_unseen_is_exported():
    raw = "\x1b[31mred\x1b[0m \x1b]0;owned\x07\u202egpj\u202c\x9b1m\u200b \u06a9\u200c\u062e"
    pages = [page_of(analysis(raw), album=pictured(raw)), report_of(analysis(raw), Window())]
    for page in pages:
        assert page == visible(page)
        assert "red gpj \u06a9\u200c\u062e" in page
        assert "31m" not in page


def policy_of(reading: Reading) -> str:
    return next(m["content"] for m in reading.named("meta") if "http-equiv" in m)


def test_the_policy_comes_before_everything_that_it_rules():
    page = page_of(analysis())
    assert page.index("Content-Security-Policy") < page.index("<style>") < page.index("<script>")
    assert policy_of(Reading(page)).startswith(
        "default-src 'none'; img-src data:; style-src 'sha256-"
    )


def test_pictures_travel_until_they_are_too_many_or_too_large(tmp_path):
    artifacts = Artifacts(tmp_path)
    kept = [artifacts.add(b"\xff\xd8\xff" + bytes([n]) * 3000, "image/jpeg") for n in range(9)]
    slides = [Scene(start=n, end=n + 1, thumbnail_uri=each.uri) for n, each in enumerate(kept)]
    gone, foreign = kept.pop(0), artifacts.add(b"<svg/>", "image/jpeg")
    gone.path.unlink()
    slides.append(Scene(start=9, end=10, thumbnail_uri=foreign.uri))
    slides.append(Scene(start=10, end=11, thumbnail_uri="vr://artifacts/../../secret"))
    few, small = collect(slides, artifacts.find, most=3), collect(slides, artifacts.find, size=9000)
    every = collect(slides, artifacts.find)
    assert (list(few.pictures), few.left_out) == ([k.uri for k in kept[:3]], 5)
    assert (len(small.pictures), small.left_out) == (2, 6)
    assert (len(every.pictures), every.left_out) == (8, 0)
    shown = page_of(analysis(slides=slides), album=few)
    assert shown.count("<img") == 3
    assert "5 more would have made this file too large" in shown


def test_a_length_that_is_not_known_is_not_told():
    page = page_of(analysis(duration=None))
    assert "10:00 ·" not in page
    assert "None" not in page


def test_a_long_video_makes_a_page_of_bearable_size():
    segments = [Segment(start=4 * n, end=4 * n + 4, text="word " * 12) for n in range(2700)]
    slides = [Scene(start=54 * n, end=54 * n + 54, title="t", text="x " * 200) for n in range(200)]
    page = page_of(analysis(duration=10_800.0, segments=segments, slides=slides))
    assert len(page) < 700_000


def test_its_files_are_installed_with_it():
    here = files("vr_plugin_video.page")
    assert all(here.joinpath(f"page.{kind}").is_file() for kind in ("html", "css", "js"))


SRT = "1\n00:00:01,000 --> 00:00:03,000\nFoxes hunt voles.\n"


@pytest.fixture
def talk(tmp_path):
    path = tmp_path / "talk.mp4"
    path.write_bytes(Lecture((3.0, 3.0), title="Foxes").encode())
    path.with_suffix(".srt").write_text(SRT)
    return path


async def test_an_export_is_a_file_and_says_where_it_is(tmp_path, talk):
    async with open_kernel(tmp_path) as kernel:
        page = await kernel.call("video_export", file_path=str(talk), engine="local")
        again = await kernel.call("video_export", file_path=str(talk), engine="local")
        found = kernel.services.artifacts.find(page.uri.rpartition("/")[2])
    written = found.path.read_text("utf-8")
    assert (str(found.path), found.size) == (page.path, page.size)
    assert (page.mime, page.title, page.cached) == ("text/html", "Foxes", False)
    assert again == page.model_copy(update={"cached": True})
    assert "Foxes hunt voles." in written
    assert written.count('src="data:image/jpeg') == 2
    assert talk.resolve().as_uri() in written


def kept(export: VideoExport) -> str:
    return Path(export.path).read_text("utf-8")


async def test_an_export_in_other_forms_is_the_whole_analysis(tmp_path, talk):
    async with open_kernel(tmp_path) as kernel:
        wanted = {"file_path": str(talk), "engine": "local"}
        whole = await kernel.call("video_export", format="json", **wanted)
        text = await kernel.call("video_export", format="md", **wanted)
        analysed = await kernel.call("video_analyze", detail="full", **wanted)
        part = await kernel.call("video_export", start=0, end="0:04", **wanted)
    found, report, page = (kept(each) for each in (whole, text, part))
    assert json.loads(found)["segments"] == [
        {"start": 1.0, "end": 3.0, "text": "Foxes hunt voles."}
    ]
    assert (whole.mime, text.mime) == ("application/json", "text/markdown")
    front = '---\nkind: "VideoAnalyses"\nderived: "true"\n---\n\n'
    assert report.startswith(front + "# Foxes\n")
    assert analysed.cached
    assert "only 00:00 to 00:04" in page


async def test_a_refused_export_writes_nothing(tmp_path, talk):
    async with open_kernel(tmp_path) as kernel:
        both = await failure(kernel, "video_export", file_path=str(talk), url=WATCH)
        long = await failure(kernel, "video_export", file_path=str(talk), instruction="x" * 20_001)
        late = await failure(kernel, "video_export", file_path=str(talk), start=99, engine="local")
        keyless = await failure(kernel, "video_export", file_path=str(talk), engine="gemini")
        written = list(kernel.services.artifacts.folder.glob("*"))
    assert both.category == "SOURCE_AMBIGUOUS"
    assert long.code is Code.TOO_LARGE
    assert late.category == "TIME_OUTSIDE_VIDEO"
    assert keyless.category == "ENGINE_UNAVAILABLE"
    assert not written


async def test_a_models_analysis_is_exported_with_what_is_known_here(tmp_path, talk):
    seen = {
        "title": "Hunters", "summary": "All about it.", "key_points": [], "topics": [],
        "sentiment": "calm",
        "timestamps": [{"time": "0:02", "description": "A hunt", "quote": "foxes hunt voles"}],
    }  # fmt: skip
    with FakeGemini() as fake:
        fake.answer(seen)
        environ = {"GEMINI_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": fake.url}
        async with open_kernel(tmp_path, environ=environ) as kernel:
            await kernel.call("video_scenes", file_path=str(talk))
            heard = await kernel.call("video_export", file_path=str(talk))
            talk.with_suffix(".srt").unlink()
            silent = await kernel.call("video_export", file_path=str(talk), use_cache=False)
        assert len(fake.requests_of("generateContent")) == 2
    page = kept(heard)
    assert "watched by Gemini" in page
    assert "Foxes hunt voles." in page
    assert "The quote was found at this time." in page
    assert page.count('src="data:image/jpeg') == 2
    assert not heard.limits
    assert "video_transcript makes one" in silent.limits[-1]
    assert 'class="silent"' in kept(silent)


async def test_an_export_of_a_youtube_video_links_to_its_moments(tmp_path):
    pytest.importorskip("googleapiclient", reason="google-api-python-client is not installed")
    pytest.importorskip("youtube_transcript_api", reason="youtube-transcript-api is not installed")
    from youtube_server import KEY, FakeYouTube, player, video

    captions = '<transcript><text start="95.0" dur="4.0">Foxes hunt voles.</text></transcript>'
    fake = FakeYouTube(
        videos={ID: video(ID)}, players={ID: player(("en", False))}, texts={"en": captions}
    )
    with fake.running():
        site = {"youtube_api_endpoint": fake.url, "youtube_site": fake.url}
        async with open_kernel(tmp_path, environ={"YOUTUBE_API_KEY": KEY}, **site) as kernel:
            page = kept(await kernel.call("video_export", url=f"https://youtu.be/{ID}"))
    assert "Foxes hunt voles." in page
    assert "captions at YouTube" in page
    assert f'href="{WATCH}&amp;t=95s"' in page
    assert "<video" not in page
