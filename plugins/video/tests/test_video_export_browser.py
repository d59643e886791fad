"""An exported analysis in a real browser: from the disk, without network, with its player."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from analysis_samples import analysis
from headless import Tab, browse, in_a_browser
from lecture import Lecture
from videokit import Reader, line, open_kernel
from vr_kernel.views import ViewRenderer
from vr_plugin_video.views.analysis import analysis_view

pages = pytest.importorskip("vr_pages.plugin", reason="vr-pages is not installed")
pytestmark = [pytest.mark.slow, in_a_browser]
TITLES = ("Foxes", "Voles", "Owls")
SECONDS = 40
SRT = "\n".join(
    f"{n}\n00:00:{n:02},000 --> 00:00:{n:02},900\nSentence {n} is long enough to fill most of a"
    f" line{' and speaks of owls.' if n == 35 else '.'}\n"
    for n in range(1, SECONDS)
)
HITS = "[...document.querySelectorAll('mark')].map((hit) => hit.textContent)"
SECTIONS = "[...document.querySelectorAll('section[data-lane], .said')].filter((it) => !it.hidden)"
NOW = "document.querySelector('.words .now')"
VIDEO = "document.querySelector('video')"
WORDS = "document.querySelector('.words')"


@dataclass(frozen=True)
class Export:
    """A page that was exported, and the video that it plays."""

    page: Path
    video: Path


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Export:
    """A lecture of three slides whose transcript is longer than its panel."""
    folder = tmp_path_factory.mktemp("export")
    video = folder / "lecture.webm"
    slides = Lecture((10.0, 15.0, 15.0), codec="libvpx", container="webm", gop=20, title="Animals")
    video.write_bytes(slides.encode())
    video.with_suffix(".srt").write_text(SRT)
    reader = Reader(lambda _: [line(TITLES[len(reader.seen) - 1], 30, height=40)])

    async def write() -> Path:
        async with open_kernel(
            folder, plugins={"reader": reader.plugin(), "pages": pages}
        ) as kernel:
            made = await kernel.call("video_export", file_path=str(video), engine="local")
        return Path(made.path)

    return Export(asyncio.run(write()), video)


@pytest.fixture
def tab(tmp_path: Path) -> Iterator[Tab]:
    # The transcript jumps then, where it would glide away from under the mouse.
    calm = "--force-prefers-reduced-motion"
    with browse(tmp_path, "--window-size=1400,900", calm) as opened:
        yield opened


@pytest.fixture
def shown(tab: Tab, export: Export) -> Tab:
    """The page, its player ready and silent about whether it plays."""
    tab.open(export.page.as_uri())
    tab.wait(f"{VIDEO}.readyState >= 2")
    tab.look(f"{VIDEO}.play = () => Promise.resolve()")  # where it is stands still then
    return tab


def position(tab: Tab) -> float:
    return float(tab.look(f"{VIDEO}.currentTime"))


def search(tab: Tab, asked: str) -> None:
    tab.look(
        f"(find => {{ find.value = {json.dumps(asked)}; find.dispatchEvent(new Event('input')); }})"
        "(document.querySelector('input[type=search]'))"
    )


def test_it_opens_from_the_disk_and_asks_nothing_of_the_network(shown: Tab, export: Export):
    assert shown.look("document.title") == "Animals"
    assert shown.loaded == [export.page.as_uri(), export.video.resolve().as_uri()]
    assert shown.complaints == []


def test_a_page_that_asks_is_caught(tab: Tab, tmp_path: Path):
    page = tmp_path / "page.html"
    page.write_text('<img src="http://elsewhere.invalid/x.png">')
    tab.open(page.as_uri())
    assert tab.loaded == [page.as_uri(), "http://elsewhere.invalid/x.png"]
    assert tab.complaints


def test_marks_and_times_go_to_their_place(shown: Tab):
    lanes = shown.look("[...document.querySelectorAll('.lane')].map((it) => it.ariaLabel)")
    assert set(lanes) == {"Moments", "Slides"}
    shown.click("[aria-label=Slides] .span:last-child")
    assert position(shown) == pytest.approx(25, abs=0.3)
    shown.look("document.querySelector('[aria-label=Slides]').focus()")
    shown.press("ArrowLeft")
    shown.press("Enter", "\r")
    assert position(shown) == pytest.approx(10, abs=0.3)
    shown.wait(f"/^Sentence (9|10) /.test({NOW}?.textContent)")  # the transcript has followed
    shown.click(".words p:last-child a.at")
    assert position(shown) > 25
    assert shown.look("location.hash") == ""


def test_it_plays(tab: Tab, export: Export):
    tab.open(export.page.as_uri() + "#t=12.5")
    tab.wait(f"{VIDEO}.readyState >= 2")
    assert position(tab) == 12.5
    tab.click("[aria-label=Slides] .span:last-child")
    tab.wait(f"{VIDEO}.currentTime > 25.5")
    assert not tab.look(f"{VIDEO}.paused")


def test_the_transcript_follows(shown: Tab):
    assert shown.look(f"{WORDS}.scrollTop") == 0
    shown.look(f"{VIDEO}.currentTime = 35.4")
    shown.wait(f"{NOW}?.textContent.startsWith('Sentence 35')")
    shown.wait(
        "(({top, bottom}, panel) => top >= panel.top && bottom <= panel.bottom)"
        f"({NOW}.getBoundingClientRect(), {WORDS}.getBoundingClientRect())"
    )
    assert shown.look("document.querySelectorAll('.words .now').length") == 1
    assert "Owls" in shown.look("document.querySelector('figure.now').textContent")


def test_search_looks_into_every_part_and_marks_what_it_finds(shown: Tab):
    search(shown, "owls")
    found = set(shown.look(f"{SECTIONS}.map((it) => it.querySelector('h2').textContent)"))
    assert found == {"Moments", "Slides", "Transcript"}
    assert set(shown.look(HITS)) == {"owls", "Owls"}
    search(shown, "owlszzz")
    assert shown.look(f"{SECTIONS}.length") == 0
    search(shown, "")
    assert shown.look(f"{SECTIONS}.length") == 3
    assert shown.look(HITS) == []


def test_a_search_finds_key_points(tab: Tab, tmp_path: Path):
    made = analysis("[00:47] Ownership of memory.", key_points=["[00:47] Memory", "More memory"])

    async def write() -> str:
        async with open_kernel(tmp_path, plugins={"pages": pages}) as kernel:
            renderer = kernel.services.providers.get(ViewRenderer)
            return str(await renderer.page(analysis_view(made)))

    page = tmp_path / "page.html"
    page.write_text(asyncio.run(write()), "utf-8")
    tab.open(page.as_uri())
    headings = "[...document.querySelectorAll('section')].filter((it) => it.offsetHeight)"
    every = tab.look(f"{headings}.map((it) => it.querySelector('h2')?.textContent)")
    search(tab, "memory")
    found = tab.look(f"{headings}.map((it) => it.querySelector('h2')?.textContent)")
    assert {"Key points", "More key points", "Decisions", "Chapters", "Slides"} <= set(found)
    assert set(found) <= set(every)
    search(tab, "nowhere")
    assert not set(tab.look(f"{headings}.map((it) => it.querySelector('h2')?.textContent)")) - {
        None
    }


def test_a_page_whose_video_is_gone_says_so_and_leads_to_it(
    tab: Tab, export: Export, tmp_path: Path
):
    page = tmp_path / "page.html"
    text = export.page.read_text("utf-8")
    page.write_text(text.replace(export.video.parent.name, "elsewhere"), "utf-8")
    tab.open(page.as_uri())
    tab.wait("!document.querySelector('.lost').hidden")
    assert tab.look(f"{VIDEO}.hidden")
    assert tab.look("document.querySelector('figure a.at').href").endswith("lecture.webm#t=0")


def test_a_page_plays_the_video_that_lies_beside_it(tab: Tab, export: Export, tmp_path: Path):
    page = tmp_path / "page.html"
    text = export.page.read_text("utf-8")
    page.write_text(text.replace(export.video.parent.name, "elsewhere"), "utf-8")
    (tmp_path / export.video.name).write_bytes(export.video.read_bytes())
    tab.open(page.as_uri())
    tab.wait(f"{VIDEO}.readyState >= 2")
    assert tab.look("document.querySelector('.lost').hidden")


def test_it_can_be_seen(shown: Tab, tmp_path: Path):
    shown.look(f"{VIDEO}.currentTime = 12")
    shown.wait(f"{VIDEO}.readyState >= 2 && {NOW}")
    pictures = []
    for media, scheme in (("screen", "light"), ("screen", "dark"), ("print", "light")):
        wish = {"name": "prefers-color-scheme", "value": scheme}
        shown.send("Emulation.setEmulatedMedia", media=media, features=[wish])
        pictures.append(shown.photograph(tmp_path / f"{media}-{scheme}.png"))
    assert all(picture.startswith(b"\x89PNG") for picture in pictures)
    assert len(set(pictures)) == 3
    assert min(map(len, pictures)) > 20_000
