"""Graphs on a page: a list that has everything, and in a browser a picture beside it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from vr_kernel.views import Edge, Graph, Link, Node, Prose, Quote, View, ViewRenderer
from vr_pages import plugin
from vr_testing import open_kernel

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LINK = "https://example.org/watch?v=v1&t=12s"
STATES = ("know", "fuzzy", "unknown")
HOSTILE = (
    "<script>document.title='owned'</script>",
    '"><img src="http://elsewhere.invalid/x.png" onerror="document.title=1">',
    "{{body}} ${document.title=1} `",
)
SIZES = {1280: 800, 390: 844, 320: 640}


def quote(text: str, link: str = LINK) -> Quote:
    return Quote(text, Link(link, "About foxes", 12.0), "verified")


def foxes(*more: str, count: int = 0) -> View:
    """A graph of a fox, a vole and others."""
    nodes = [
        Node("Fox", "know", "A hunter.", 1.0, [quote("as the fox says")], (0.1, 0.2)),
        Node("Vole", "fuzzy", "", 0.5, [quote("a wrong way", "javascript:alert(1)")], (0.9, 0.8)),
        *(Node(name, "unknown", f"About {name}") for name in more),
        *(Node(f"Animal {number}", STATES[number % 3]) for number in range(count)),
    ]
    edges = [
        Edge(0, 1, "builds_on", [quote("foxes live on voles")]),
        *(Edge(number, 0, "related_to") for number in range(2, len(nodes))),
        Edge(7, 9999, "lost"),
    ]
    return View("Foxes", [Graph(nodes, edges, STATES)], notes=["a note"])


async def page_of(view: View) -> str:
    async with open_kernel({"pages": plugin}) as kernel:
        return await kernel.services.providers.get(ViewRenderer).page(view)


def body_of(page: str) -> str:
    return page.rpartition("</style>")[2].partition("<script>")[0]


async def test_the_list_has_everything_without_a_script() -> None:
    body = body_of(await page_of(foxes()))
    words = " ".join(re.sub(r"<[^>]*>", " ", body).split())
    for said in ("Fox ● know", "A hunter.", "as the fox says", "About foxes, 0:12", "Vole ◆ fuzzy"):
        assert said in words, said
    assert "builds on Vole" in words
    assert "Fox builds on this" in words, "a relation is found from both ends"
    assert body.count("foxes live on voles") == 1, "its quote stands once"
    assert body.count(f'href="{LINK.replace("&", "&amp;")}"') == 2
    assert "javascript:" not in body
    assert set(re.findall(r'href="#([^"]+)"', body)) <= set(re.findall(r' id="([^"]+)"', body))


async def test_a_graph_brings_its_script_and_a_page_without_one_does_not() -> None:
    assert ".network" in await page_of(foxes())
    assert ".network" not in await page_of(View("T", [Prose("x")]))
    assert 'class="network"' not in await page_of(View("T", [Graph([], [])]))


async def test_texts_of_nodes_are_no_markup() -> None:
    page = await page_of(foxes(*HOSTILE))
    assert page.count("<script>") == page.count("</script>") == 2
    assert "<img" not in page


class Tab:
    """A page in a browser, with its complaints and what it asked for."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    async def chosen(self) -> list[str]:
        named = self.page.locator("li[aria-current] > details[open] > summary > b")
        return list(await named.all_text_contents())


Opener = Callable[..., Awaitable[Tab]]
WRITTEN = """
globalThis.written = [];
const pens = CanvasRenderingContext2D.prototype, { clearRect, fillText } = pens;
pens.clearRect = function (...place) { written.length = 0; clearRect.apply(this, place); };
pens.fillText = function (text, x, y) {
  const half = this.measureText(text).width / 2;
  written.push([text, x - half, y - 10, x + half, y + 2]);
  fillText.call(this, text, x, y);
};
"""
"""Keeps what the last picture says, and where: the middle of a line in x, its foot in y."""
BELOW_BUTTONS = """() => {
  const from = document.querySelector("canvas").getBoundingClientRect();
  const upon = document.querySelectorAll(".zoom button, .key");
  const boxes = Array.from(upon, (it) => it.getBoundingClientRect());
  return written.filter(([, left, top, right, bottom]) => boxes.some((box) =>
    left < box.right - from.left && box.left - from.left < right &&
    top < box.bottom - from.top && box.top - from.top < bottom)).map(([text]) => text);
}"""


@pytest.fixture
async def open_tab(tmp_path: Path) -> AsyncIterator[Opener]:
    """Opens a view as a file in a browser of this machine."""
    driver = pytest.importorskip("playwright.async_api", reason="needs playwright")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("needs Chromium")

    async def opened(view: View, fragment: str = "", **context: Any) -> Tab:
        file = tmp_path / "graph.html"
        file.write_text(await page_of(view), "utf-8")
        tab = Tab(await (await browser.new_context(**context)).new_page())
        await tab.page.add_init_script(WRITTEN)
        await tab.page.goto(f"{file.as_uri()}{fragment}")
        return tab

    async with driver.async_playwright() as started:
        browser = await started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        await browser.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", SIZES)
async def test_it_is_accessible_fits_and_asks_nobody(
    open_tab: Opener, width: int, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.async_playwright", reason="needs axe")
    size = {"width": width, "height": SIZES[width]}
    tab = await open_tab(foxes(*HOSTILE), viewport=size, color_scheme=scheme)
    assert await tab.page.evaluate("document.documentElement.scrollWidth") <= width
    found = (await axe.Axe().run(tab.page)).response["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
    assert tab.complaints == []
    assert len(tab.requests) == 1
    assert await tab.page.title() == "Foxes"


@pytest.mark.slow
async def test_nodes_are_drawn_and_chosen_in_the_picture_and_by_address(open_tab: Opener) -> None:
    tab = await open_tab(foxes(count=20), "#vole")
    assert await tab.chosen() == ["Vole"]
    drawn = "(c) => new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size"
    canvas = tab.page.locator("canvas")
    assert await canvas.evaluate(drawn) > 20
    box = await canvas.bounding_box()
    await canvas.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    assert await tab.chosen() == ["Vole"], "what was named is in the middle"
    await canvas.press("Escape")
    assert await tab.chosen() == []
    assert tab.complaints == []


@pytest.mark.slow
@pytest.mark.parametrize("width", SIZES)
async def test_no_name_lies_below_what_stands_upon_the_picture(
    open_tab: Opener, width: int
) -> None:
    corners = [(x, y) for x in (0.0, 0.5, 1.0) for y in (0.0, 0.5, 1.0)]
    nodes = [Node(f"Number {n}", "know", at=at) for n, at in enumerate(corners)]
    edges = [Edge(8, number, "leads_far_away_to") for number in range(8)]
    view = View("Corners", [Graph(nodes, edges, ["know"])])
    tab = await open_tab(view, viewport={"width": width, "height": SIZES[width]})
    said = await tab.page.evaluate("written.map(([text]) => text)")
    assert nodes[8].name in said, "the whole graph leaves room for the buttons"
    assert await tab.page.evaluate(BELOW_BUTTONS) == []
    await tab.page.locator(".nodes summary").nth(8).hover()
    assert len(await tab.page.evaluate("written.map(([text]) => text)")) > 1
    assert await tab.page.evaluate(BELOW_BUTTONS) == []
    for key in ("ArrowLeft", "ArrowUp", "ArrowUp", "+", "ArrowRight"):
        await tab.page.locator("canvas").press(key)
        assert await tab.page.evaluate(BELOW_BUTTONS) == [], key


@pytest.mark.slow
async def test_by_keyboard_a_node_is_opened_and_its_relation_followed(open_tab: Opener) -> None:
    tab = await open_tab(foxes(count=20))
    await tab.page.locator(".nodes summary").first.focus()
    await tab.page.keyboard.press("Enter")
    await tab.page.locator("li[aria-current]").wait_for()
    assert await tab.chosen() == ["Fox"]
    await tab.page.locator("li[aria-current] a", has_text="Vole").focus()
    await tab.page.keyboard.press("Enter")
    await tab.page.locator("li[aria-current]", has_text="a wrong way").wait_for()
    assert await tab.chosen() == ["Vole"]


@pytest.mark.slow
async def test_what_is_marked_and_changed_becomes_a_text_for_the_assistant(
    open_tab: Opener,
) -> None:
    tab = await open_tab(foxes(count=20), "#fox", permissions=["clipboard-read", "clipboard-write"])
    copy = tab.page.get_by_role("button", name="Copy for the assistant")
    assert await copy.is_disabled()
    await tab.page.locator("li[aria-current]").get_by_label("Mark for the assistant").check()
    await tab.page.locator("li[aria-current]").get_by_label("fuzzy").check()
    assert await tab.page.locator(".status").inner_text() == "1 marked, 1 changed"
    assert "◆ fuzzy" in await tab.page.locator("li[aria-current] summary").inner_text()
    await copy.click()
    await tab.page.get_by_text("Copied.").wait_for()
    said = await tab.page.evaluate("navigator.clipboard.readText()")
    assert "- Fox (fuzzy): A hunter." in said
    assert "“as the fox says” About foxes, 0:12" in said
    assert LINK in said
    assert "Fox builds on Vole" in said
    given = json.loads(said[said.index("{") :])
    states = [{"concept_name": "Fox", "state": "fuzzy"}]
    assert given == {"collection": "ConceptKnowledge", "properties": states}


@pytest.mark.slow
async def test_groups_are_left_out_and_words_are_searched(open_tab: Opener) -> None:
    tab = await open_tab(foxes(count=20))
    seen = tab.page.locator(".nodes > li:visible")
    assert await seen.count() == 22
    await tab.page.get_by_role("checkbox", name="unknown").uncheck()
    assert await seen.count() == 22 - 6
    await tab.page.locator(".search input").fill("wrong way")
    assert await seen.locator("summary b").all_text_contents() == ["Vole"]
    assert await tab.page.locator("mark.hit").first.is_visible()


@pytest.mark.slow
async def test_every_text_that_is_found_is_seen_and_no_control_is_found(open_tab: Opener) -> None:
    tab = await open_tab(foxes(*(f"Zebra {n}" for n in range(30))), "#fox")
    find, count = tab.page.locator(".search input"), tab.page.locator(".search output")
    await find.fill("about zebra")
    assert await count.inner_text() == "31 found", "each of them, and the fox that all lead to"
    assert await tab.page.locator("details > p mark.hit:visible").count() == 60
    await find.fill("assistant")
    assert await count.inner_text() == "nothing found"


@pytest.mark.slow
async def test_on_paper_there_is_all_of_the_list_and_no_control(open_tab: Opener) -> None:
    tab = await open_tab(foxes(count=20), viewport={"width": 1280, "height": 400})
    await tab.page.emulate_media(media="print")
    assert not await tab.page.locator("canvas").is_visible()
    assert await tab.page.locator(".network input:visible").count() == 0
    nodes = tab.page.locator(".nodes")
    assert await nodes.evaluate("it => it.scrollHeight - it.clientHeight") == 0


@pytest.mark.slow
async def test_without_a_script_the_list_is_there(open_tab: Opener) -> None:
    tab = await open_tab(foxes(), java_script_enabled=False)
    assert await tab.page.get_by_text("as the fox says").is_visible()
    assert await tab.page.locator("canvas").count() == 0
