"""Pages in a real browser: accessible, at any width, by keyboard alone, without script, alone."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from every_block import PNG, everything
from vr_kernel.views import (
    Claim,
    Claims,
    Code,
    Compare,
    DocumentPage,
    Facts,
    Line,
    Link,
    Media,
    Moment,
    Moments,
    Pages,
    Quote,
    Table,
    Transcript,
    View,
    ViewRenderer,
)
from vr_pages import plugin
from vr_testing import open_kernel

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
TALK = Path(__file__).parents[2] / "src" / "video_research" / "talk.mp4"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WORDS = re.compile(r"\w+quokka")
HEIGHTS = {1280: 900, 390: 844, 320: 640}


class Tab:
    """A page in a browser, and what it asked for and complained of."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def _said(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    async def until(self, holds: str) -> None:
        """Wait until an expression of the page holds."""
        pause = "new Promise(requestAnimationFrame)"  # the policy of the page forbids `eval`
        waits = self.page.evaluate(f"async () => {{ while (!({holds})) await {pause}; }}")
        await asyncio.wait_for(waits, 30)


Opener = Callable[..., Awaitable[Tab]]


@pytest.fixture
async def open_tab() -> AsyncIterator[Opener]:
    """Opens pages in a browser of this machine; tests are skipped where there is none."""
    driver = pytest.importorskip("playwright.async_api", reason="needs playwright")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("needs Chromium")

    async def opened(address: str, **context: Any) -> Tab:
        tab = Tab(await (await browser.new_context(**context)).new_page())
        await tab.page.goto(address)
        return tab

    async with driver.async_playwright() as started:
        browser = await started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        await browser.close()


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    """A page with every block, and the bundled talk for a film."""
    return await written(everything(str(TALK), 72.0), tmp_path / "everything.html")


async def written(view: View, file: Path) -> Path:
    async with open_kernel({"pages": plugin}) as kernel:
        page = await kernel.services.providers.get(ViewRenderer).page(view, file.parent)
    file.write_text(page, encoding="utf-8")  # noqa: ASYNC240
    return file


def body_of(file: Path) -> str:
    """The part of a page that people read."""
    return file.read_text("utf-8").rpartition("</style>")[2].partition("<script>")[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", HEIGHTS)
async def test_it_is_accessible_fits_and_asks_nobody(
    open_tab: Opener, file: Path, width: int, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.async_playwright", reason="needs axe")
    size = {"width": width, "height": HEIGHTS[width]}
    tab = await open_tab(file.as_uri(), viewport=size, color_scheme=scheme)
    await tab.page.locator(".code summary").click()
    assert await tab.page.evaluate("document.documentElement.scrollWidth") <= width
    found = (await axe.Axe().run(tab.page)).response["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
    assert tab.complaints == []
    asked = {each for each in tab.requests if urlsplit(each).scheme != "data"}
    assert asked <= {file.as_uri(), TALK.as_uri()}


async def test_every_part_is_searched(open_tab: Opener, file: Path) -> None:
    tab = await open_tab(file.as_uri())
    words = set(WORDS.findall(body_of(file)))
    assert len(words) > 15
    find, count = tab.page.locator(".search input"), tab.page.locator("output")
    hits = tab.page.locator("mark.hit")
    for word in sorted(words):
        await find.fill(word.upper())
        assert set(await hits.all_text_contents()) == {word}, word
        assert await hits.first.is_visible(), word
        assert re.fullmatch(r"[1-5] found", await count.inner_text()), word
    await find.fill("sky stepquokka")
    assert await count.inner_text() == "nothing found"
    await tab.page.keyboard.press("Escape")
    assert await hits.count() == await tab.page.locator("section[hidden]").count() == 0
    assert tab.complaints == []


async def test_what_is_found_in_folded_parts_is_counted_and_seen(
    open_tab: Opener, tmp_path: Path
) -> None:
    deep = View("Deep", [Code("the foxquokka lies deep", title="Data", detail=True)])
    told = [
        Facts([("Seen", "a foxquokka"), ("Else", "a vole")], title="Facts"),
        Compare(deep, View("Other", []), title="Sides", detail=True),
        Table(["Name"], [["owl"], ["hare"]], title="Scores", detail=True),
    ]
    tab = await open_tab((await written(View("Folded", told), tmp_path / "page.html")).as_uri())
    find, count = tab.page.locator(".search input"), tab.page.locator("output")
    await find.fill("foxquokka")
    assert await count.inner_text() == "2 found"
    for hit in await tab.page.locator("mark.hit").all():
        assert await hit.is_visible()
    await find.fill("scores")
    assert await count.inner_text() == "1 found"
    await tab.page.locator("summary", has_text="Scores").click()
    assert await tab.page.get_by_text("hare").is_visible(), "what is named is there as a whole"
    await find.fill("owl")
    assert not await tab.page.get_by_text("hare").is_visible()
    await find.fill("")
    assert await tab.page.locator("details[open]").count() == 1, "the one that was opened by hand"


async def test_a_page_of_a_document_opens_by_its_address_a_link_and_a_search(
    open_tab: Opener, tmp_path: Path
) -> None:
    source = "file:///manuals/pump.pdf"
    sheets = [DocumentPage(it, f"Of part {it}.\n\nIts wordquokka.", PNG) for it in range(1, 15)]
    words = "Like all pumps of its kind that are made in this land, it runs on twelve\nvolts."
    sheets[8] = DocumentPage(9, words, PNG, ["twelve\nvolts"])
    told = Claim("It takes 12 V", quotes=[Quote("12 V", Link(f"{source}#page=9", "p. 9"))])
    view = View("Pump", [Claims([told]), Pages(sheets, title="Pages", detail=True)], source=source)
    address = (await written(view, tmp_path / "pump.html")).as_uri()
    tab = await open_tab(f"{address}#page-3", viewport={"width": 1200, "height": 900})
    assert await tab.page.get_by_text("Of part 3.").last.is_visible()
    await tab.page.get_by_role("link", name="p. 9").click()
    mark = tab.page.locator("#page-9 mark")
    assert await mark.inner_text() == "twelve volts", "words run on over the end of a line"
    assert await mark.is_visible()
    assert tab.page.context.pages == [tab.page], "the page opens here, not in another tab"
    picture, text = tab.page.locator("#page-9 img"), tab.page.locator("#page-9 > div")
    wide = [await it.bounding_box() for it in (picture, text)]
    assert wide[0]["x"] + wide[0]["width"] <= wide[1]["x"], "side by side"
    await tab.page.set_viewport_size({"width": 390, "height": 844})
    narrow = [await it.bounding_box() for it in (picture, text)]
    assert narrow[0]["y"] + narrow[0]["height"] <= narrow[1]["y"], "one below the other"
    await tab.page.locator(".search input").fill("wordquokka")
    assert await tab.page.locator("output").inner_text() == "13 found"
    assert await tab.page.locator(".sheet[open]:not([hidden])").count() == 10
    await tab.page.locator(".sheet:not([open], [hidden]) summary").first.click()
    await tab.until("document.querySelectorAll('.sheet[open] .leaf mark.hit').length == 11")
    assert tab.complaints == []


async def test_the_keyboard_alone_finds_a_moment_and_plays_it(open_tab: Opener, file: Path) -> None:
    tab = await open_tab(file.as_uri())
    keys = tab.page.keyboard
    await keys.press("/")
    await keys.type("momentquokka")
    await keys.press("Enter")
    assert await tab.page.evaluate("document.activeElement.textContent") == "0:05"
    await keys.press("Enter")
    await tab.until("(it => it.currentTime > 5 && !it.paused)(document.querySelector('video'))")
    await tab.until("document.querySelector('.said .now')?.textContent.includes('saidquokka')")
    assert tab.page.context.pages == [tab.page], "it plays here, not in another tab"
    await tab.page.locator(".lane").nth(1).focus()
    await tab.until("document.querySelector('.hint').textContent.includes('momentquokka')")
    await keys.press("Enter")
    await tab.until("document.querySelector('video').currentTime < 6")


async def test_it_opens_at_a_time(open_tab: Opener, file: Path, tmp_path: Path) -> None:
    tab = await open_tab(f"{file.as_uri()}#t=31")
    await tab.until("document.querySelector('video').currentTime === 31")
    moment = View("A moment", [Media(str(TALK), start=47.5)])
    file = await written(moment, tmp_path / "moment.html")
    for fragment, start in (("", 47.5), ("#t=31", 31)):
        tab = await open_tab(file.as_uri() + fragment)
        await tab.until(f"document.querySelector('video').currentTime === {start}")


async def test_lines_have_their_times_though_some_say_nothing(
    open_tab: Opener, tmp_path: Path
) -> None:
    lines = [Line(0, 3, "", "Ann"), Line(3, 5.5, "One", "Bob"), Line(5.5, 7, "", "Bob")]
    told = [Media(str(TALK), duration=72.0), Transcript([*lines, Line(7.25, 9, "two", "Bob")])]
    tab = await open_tab((await written(View("Said", told), tmp_path / "page.html")).as_uri())
    read = "it => [it.dataset.start, it.innerText]"
    spans = f"Array.from(document.querySelectorAll('.said span'), {read})"
    timed = [["0", ""], ["3", "One"], ["5.5", ""], ["7.2", "two"]]
    assert await tab.page.evaluate(spans) == timed
    assert tab.complaints == []


async def test_it_is_read_without_a_script(open_tab: Opener, file: Path) -> None:
    high = {"width": 1280, "height": 9000}  # parts outside of the window are not laid out
    tab = await open_tab(file.as_uri(), java_script_enabled=False, viewport=high)
    await tab.page.locator(".code summary").click()
    text = await tab.page.locator("body").inner_text()
    words = set(WORDS.findall(re.sub("<[^>]*>", " ", body_of(file))))
    assert {word for word in words if word not in text} == set()
    assert not await tab.page.locator(".search").is_visible()
    time = tab.page.locator("a.at").first
    assert str(await time.get_attribute("href")).startswith(TALK.as_uri())


async def test_a_film_that_is_gone_is_said_to_be(open_tab: Opener, tmp_path: Path) -> None:
    view = everything("/nowhere/at/all/talk.mp4")
    file = await written(view, tmp_path / "page.html")
    tab = await open_tab(file.as_uri())
    await tab.until("!document.querySelector('.lost').hidden")
    assert "cannot be played here" in await tab.page.locator(".lost").inner_text()
    shutil.copyfile(TALK, tmp_path / "talk.mp4")
    await tab.page.reload()
    await tab.until("document.querySelector('video').duration > 70")
    assert await tab.page.locator(".lost").is_hidden(), "it was found beside the page"


async def test_a_time_after_an_hour_stands_apart_from_its_words(
    open_tab: Opener, tmp_path: Path
) -> None:
    view = View("Talk", [Moments([Moment(5, "Begin"), Moment(3700, "Late", link="https://a.b/")])])
    tab = await open_tab((await written(view, tmp_path / "long.html")).as_uri())
    gaps = await tab.page.evaluate("""Array.from(document.querySelectorAll(".rows > li"), (row) => {
      const [time, text] = Array.from(row.children, (it) => it.getBoundingClientRect());
      return [text.left - time.right, text.left];
    })""")
    assert min(gap for gap, _ in gaps) >= 8
    assert len({left for _, left in gaps}) == 1, "all words begin in one column"
