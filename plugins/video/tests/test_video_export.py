"""Analyses as files: a page with player and timeline, Markdown, and data."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from pathlib import Path

import pytest
from analysis_samples import HOSTILE, ID, WATCH, analysis
from lecture import Lecture
from videokit import failure, open_kernel
from vr_kernel import Code, Kernel, visible
from vr_kernel.views import ViewRenderer
from vr_plugin_video.analyses.report import report_of
from vr_plugin_video.captions.transcripts import Segment
from vr_plugin_video.models import Scene
from vr_plugin_video.text.times import Window
from vr_plugin_video.tools.export import VideoExport
from vr_plugin_video.views.analysis import analysis_view
from vr_testing import FakeGemini


@asynccontextmanager
async def opened(
    folder: Path, environ: Mapping[str, str] | None = None, **settings: str
) -> AsyncIterator[Kernel]:
    """A kernel that can make pages; skips the test where nothing is installed for them."""
    pages = pytest.importorskip("vr_pages.plugin", reason="vr-pages is not installed")
    plugins = {"pages": pages}
    async with open_kernel(folder, plugins=plugins, environ=environ, **settings) as kernel:
        yield kernel


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
    def lanes(self) -> list[str]:
        """The rows of the timeline."""
        return [it["data-lane"] for it in self.named("section") if "data-lane" in it]

    @property
    def policy(self) -> str:
        return next(m["content"] for m in self.named("meta") if "http-equiv" in m)


@pytest.mark.parametrize("text", HOSTILE)
async def test_no_text_of_an_analysis_becomes_markup(tmp_path, text):
    async with opened(tmp_path) as kernel:
        renderer = kernel.services.providers.get(ViewRenderer)
        page, tame = [
            await renderer.page(analysis_view(analysis(each))) for each in (text, "plain")
        ]
    reading, plain = Reading(page), Reading(tame)
    scripts = [len(it.named("script")) for it in (reading, plain)]
    assert scripts[0] == scripts[1] == len(re.findall(r"</script\b", page, re.IGNORECASE))
    attributes = [name for _, given in reading.elements for name in given]
    assert not [name for name in attributes if name.startswith(("on", "style"))]
    assert {a["href"].partition(":")[0] for a in reading.named("a")} == {"https"}
    assert reading.policy == plain.policy
    assert not reading.named("video")


def test_nothing_unseen_is_in_a_report():
    raw = "\x1b[31mred\x1b[0m \x1b]0;owned\x07\u202egpj\u202c\x9b1m\u200b \u06a9\u200c\u062e"
    report = report_of(analysis(raw), Window())
    assert report == visible(report)
    assert "red gpj \u06a9\u200c\u062e" in report
    assert "31m" not in report


async def test_a_long_video_makes_a_page_of_bearable_size(tmp_path):
    segments = [Segment(start=4 * n, end=4 * n + 4, text="word " * 12) for n in range(2700)]
    slides = [Scene(start=54 * n, end=54 * n + 54, title="t", text="x " * 200) for n in range(200)]
    made = analysis(duration=10_800.0, segments=segments, slides=slides)
    async with opened(tmp_path) as kernel:
        page = await kernel.services.providers.get(ViewRenderer).page(analysis_view(made))
    assert len(page) < 700_000


SRT = "1\n00:00:01,000 --> 00:00:03,000\nFoxes hunt voles.\n"


@pytest.fixture
def talk(tmp_path):
    path = tmp_path / "talk.mp4"
    path.write_bytes(Lecture((3.0, 3.0), title="Foxes").encode())
    path.with_suffix(".srt").write_text(SRT)
    return path


async def test_a_page_is_a_file_and_says_where_it_is(tmp_path, talk):
    async with opened(tmp_path) as kernel:
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
    assert "exported on " in written
    reading = Reading(written)
    assert [it["src"] for it in reading.named("source")] == [talk.resolve().as_uri(), "talk.mp4"]
    assert "Slides" in reading.lanes
    assert reading.policy.startswith("default-src 'none'; img-src data:; media-src file: blob:;")


async def test_without_anything_that_makes_pages_nothing_is_paid(tmp_path, talk):
    with FakeGemini() as fake:
        environ = {"GEMINI_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": fake.url}
        async with open_kernel(tmp_path, environ=environ) as kernel:
            error = await failure(kernel, "video_export", file_path=str(talk))
            text = await kernel.call(
                "video_export", file_path=str(talk), format="md", engine="local"
            )
        assert not fake.requests
    assert error.code is Code.UNAVAILABLE
    assert "pip install vr-pages" in error.hint
    assert text.size > 0


def kept(export: VideoExport) -> str:
    return Path(export.path).read_text("utf-8")


async def test_an_export_in_other_forms_is_the_whole_analysis(tmp_path, talk):
    async with open_kernel(tmp_path) as kernel:
        wanted = {"file_path": str(talk), "engine": "local"}
        whole = await kernel.call("video_export", format="json", **wanted)
        text = await kernel.call("video_export", format="md", **wanted)
        analysed = await kernel.call("video_analyze", detail="full", **wanted)
        part = await kernel.call("video_export", format="md", start=0, end="0:04", **wanted)
    found, report, other = (kept(each) for each in (whole, text, part))
    assert json.loads(found)["segments"] == [
        {"start": 1.0, "end": 3.0, "text": "Foxes hunt voles."}
    ]
    assert (whole.mime, text.mime) == ("application/json", "text/markdown")
    front = '---\nkind: "VideoAnalyses"\nderived: "true"\n---\n\n'
    assert report.startswith(front + "# Foxes\n")
    assert analysed.cached
    assert f"- [0:01]({talk.resolve().as_uri()}#t=1) Foxes hunt voles." in report
    assert "only 0:00 to 0:04" in other


async def test_a_refused_export_writes_nothing(tmp_path, talk):
    async with open_kernel(tmp_path) as kernel:
        wanted = {"format": "md", "file_path": str(talk)}
        both = await failure(kernel, "video_export", **wanted, url=WATCH)
        long = await failure(kernel, "video_export", **wanted, instruction="x" * 20_001)
        late = await failure(kernel, "video_export", **wanted, start=99, engine="local")
        keyless = await failure(kernel, "video_export", **wanted, engine="gemini")
        written = list(kernel.services.artifacts.folder.glob("*"))
    assert both.category == "SOURCE_AMBIGUOUS"
    assert long.code is Code.TOO_LARGE
    assert late.category == "TIME_OUTSIDE_VIDEO"
    assert keyless.category == "ENGINE_UNAVAILABLE"
    assert not written


async def test_a_models_analysis_is_exported_with_what_is_known_here(tmp_path, talk):
    seen = {
        "title": "Hunters", "summary": "All about it.", "key_points": ["[0:01] Ears"], "topics": [],
        "sentiment": "calm",
        "timestamps": [{"time": "0:02", "description": "A hunt", "quote": "foxes hunt voles"}],
    }  # fmt: skip
    with FakeGemini() as fake:
        fake.answer(seen)
        environ = {"GEMINI_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": fake.url}
        async with opened(tmp_path, environ) as kernel:
            await kernel.call("video_scenes", file_path=str(talk))
            heard = await kernel.call("video_export", file_path=str(talk))
            talk.with_suffix(".srt").unlink()
            silent = await kernel.call("video_export", file_path=str(talk), use_cache=False)
        assert len(fake.requests_of("generateContent")) == 2
    page = kept(heard)
    assert "watched by Gemini" in page
    assert "Foxes hunt voles." in page
    assert "The quote was found at this place." in page
    assert Reading(page).lanes == ["Key points", "Moments", "Slides"]
    assert page.count('src="data:image/jpeg') == 2
    assert not heard.limits
    assert "video_transcript makes one" in silent.limits[-1]
    assert "Transcript</h2>" not in kept(silent)


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
        async with opened(tmp_path, {"YOUTUBE_API_KEY": KEY}, **site) as kernel:
            page = kept(await kernel.call("video_export", url=f"https://youtu.be/{ID}"))
    assert "Foxes hunt voles." in page
    assert "captions at YouTube" in page
    assert f'href="{WATCH}&amp;t=95s"' in page
    assert "<video" not in page
    assert "media-src" not in Reading(page).policy
