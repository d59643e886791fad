"""The page of an analysis in a real browser: from the disk, without network, with its player."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from headless import Tab, browse, in_a_browser
from lecture import Lecture
from page_samples import HOSTILE, analysis, page_of
from videokit import Reader, line, open_kernel

pytestmark = [pytest.mark.slow, in_a_browser]
TITLES = ("Foxes", "Voles", "Owls")
SECONDS = 40
SRT = "\n".join(
    f"{n}\n00:00:{n:02},000 --> 00:00:{n:02},900\nSentence {n} is long enough to fill most of a"
    f" line{' and speaks of owls.' if n == 35 else '.'}\n"
    for n in range(1, SECONDS)
)
HITS = "[...document.querySelectorAll('mark')].map((hit) => hit.textContent)"
SHOWN = "[...document.querySelectorAll('[data-kind]')].filter((item) => !item.hidden)"
NOW = "document.querySelector('#words .now')"
VIDEO = "document.querySelector('video')"


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
        async with open_kernel(folder, plugins={"reader": reader.plugin()}) as kernel:
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
        "(document.getElementById('find'))"
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
    shown.click(".mark.slide[data-at^='25']")
    assert position(shown) == pytest.approx(25, abs=0.3)
    shown.click(".mark.moment")
    assert position(shown) == 0
    for _ in ("the slide of the same time", "the next moment"):
        shown.press("ArrowRight")
    shown.press("Enter", "\r")
    assert position(shown) == pytest.approx(10, abs=0.3)
    shown.wait(f"/^Sentence (9|10) /.test({NOW}?.textContent)")  # the transcript has followed
    shown.click("#words p:last-child a.at")
    assert position(shown) > 25
    shown.look("document.getElementById('bar').focus()")
    shown.press("Home")
    shown.press("ArrowRight")
    assert position(shown) == 5
    assert shown.look("location.hash") == ""


def test_it_plays(tab: Tab, export: Export):
    tab.open(export.page.as_uri() + "#t=12.5")
    tab.wait(f"{VIDEO}.readyState >= 2")
    assert position(tab) == 12.5
    tab.click(".mark.slide[data-at^='25']")
    tab.wait(f"{VIDEO}.currentTime > 25.5")
    assert not tab.look(f"{VIDEO}.paused")


def test_the_transcript_follows(shown: Tab):
    assert shown.look("document.getElementById('words').scrollTop") == 0
    shown.look(f"{VIDEO}.currentTime = 35.4")
    shown.wait(f"{NOW}?.textContent.startsWith('Sentence 35')")
    shown.wait(
        "(({top, bottom}, panel) => top >= panel.top && bottom <= panel.bottom)"
        f"({NOW}.getBoundingClientRect(),"
        " document.getElementById('words').getBoundingClientRect())"
    )
    assert shown.look("document.querySelectorAll('#words .now').length") == 1
    assert "Owls" in shown.look("document.querySelector('figure.now').textContent")
    shown.look(f"{VIDEO}.currentTime = 2.4")
    shown.wait(f"{NOW}?.textContent.startsWith('Sentence 2 ')")


def test_search_leaves_what_has_the_words_and_marks_them(shown: Tab):
    every = shown.look(f"{SHOWN}.length")
    shown.press("/", "/")
    for letter in "owls 35":
        shown.press(letter, letter)
    assert shown.look(f"{SHOWN}.map((item) => item.dataset.kind)") == ["said"]
    assert shown.look(HITS) == ["35", "owls"]
    search(shown, "owls")
    kinds = set(shown.look(f"{SHOWN}.map((item) => item.dataset.kind)"))
    assert kinds >= {"said", "moment", "slide"}
    assert set(shown.look(HITS)) == {"owls", "Owls"}
    assert shown.look("document.querySelectorAll('.mark:not(.off)').length") == 2
    search(shown, "owlszzz")
    assert not shown.look("document.getElementById('nothing').hidden")
    shown.press("Escape")
    assert shown.look(f"{SHOWN}.length") == every
    assert shown.look(HITS) == []


def test_search_looks_into_every_part(tab: Tab, tmp_path: Path):
    page = tmp_path / "page.html"
    made = analysis("[00:47] Ownership of memory.").model_copy(update={"limits": ["Memory."]})
    page.write_text(page_of(made), "utf-8")
    tab.open(page.as_uri())
    headings = "[...document.querySelectorAll('article section')].filter((s) => s.offsetHeight)"
    every = tab.look(f"{headings}.map((s) => s.firstChild.textContent)")
    search(tab, "memory")
    found = tab.look(f"{headings}.map((s) => s.firstChild.textContent)")
    assert found == [heading for heading in every if heading != "Limits"]
    assert {"Summary", "Key points", "Topics", "Decisions", "Chapters", "Slides"} <= set(found)
    assert tab.look("document.querySelector('[data-kind=point] mark').textContent") == "memory"
    search(tab, "nowhere")
    assert tab.look(f"{headings}.length") == 0
    search(tab, "")
    assert tab.look(f"{headings}.map((s) => s.firstChild.textContent)") == every


def test_words_of_a_search_are_words_not_a_pattern(shown: Tab):
    for asked in ("(", ".*", "[a-", "\\", "a|b", "$^+?{1}/"):
        search(shown, asked)
        assert set(shown.look(HITS)) <= {asked}
    assert shown.complaints == []


def test_a_page_whose_video_is_gone_says_so_and_leads_to_it(
    tab: Tab, export: Export, tmp_path: Path
):
    page = tmp_path / "page.html"
    text = export.page.read_text("utf-8")
    page.write_text(text.replace(export.video.parent.name, "elsewhere"), "utf-8")
    tab.open(page.as_uri())
    tab.wait("!document.getElementById('lost').hidden")
    assert tab.look(f"{VIDEO}.hidden")
    assert tab.look("document.querySelector('.mark.slide').href").endswith("lecture.webm#t=0")


def test_a_page_plays_the_video_that_lies_beside_it(tab: Tab, export: Export, tmp_path: Path):
    page = tmp_path / "page.html"
    text = export.page.read_text("utf-8")
    page.write_text(text.replace(export.video.parent.name, "elsewhere"), "utf-8")
    (tmp_path / export.video.name).write_bytes(export.video.read_bytes())
    tab.open(page.as_uri())
    tab.wait(f"{VIDEO}.readyState >= 2")
    assert tab.look("document.getElementById('lost').hidden")


def test_hostile_texts_do_nothing(tab: Tab, tmp_path: Path):
    for number, text in enumerate(HOSTILE):
        page = tmp_path / f"{number}.html"
        page.write_bytes(page_of(analysis(text)).encode("utf-8", "replace"))
        tab.requests.clear()
        tab.open(page.as_uri())
        check_harmless(tab, page)


def check_harmless(tab: Tab, page: Path) -> None:
    assert tab.look("document.querySelectorAll('.mark').length") == 3
    assert tab.look("document.title") not in ("1", "")
    assert tab.look("document.scripts.length") == 1
    assert tab.loaded == [page.as_uri()]
    assert tab.complaints == []


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
