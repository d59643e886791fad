"""Views as HTML: complete, escaped, with a policy that allows nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from every_block import everything
from vr_kernel.views import (
    Block,
    Claims,
    Code,
    Compare,
    DocumentPage,
    Edge,
    Facts,
    Graph,
    Image,
    Item,
    Line,
    Link,
    Matrix,
    Media,
    Moment,
    Moments,
    Node,
    Pages,
    Pictures,
    Prose,
    Quote,
    Records,
    Step,
    Steps,
    Table,
    Transcript,
    View,
    ViewRenderer,
    as_text,
)
from vr_pages import plugin
from vr_testing import open_kernel


class Read(HTMLParser):
    """The elements, ids, headings and texts of a page; raises for one that is not closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in {"img", "source", "input", "meta", "base", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def of(self, *tags: str) -> list[str]:
        return [data for tag, data in self.texts if tag in tags]

    @property
    def text(self) -> str:
        return "".join(data for tag, data in self.texts if tag not in {"style", "script"})


@pytest.fixture
async def renderer() -> AsyncIterator[ViewRenderer]:
    async with open_kernel({"pages": plugin}) as kernel:
        yield kernel.services.providers.get(ViewRenderer)


async def test_a_page_shows_every_block_once(renderer: ViewRenderer) -> None:
    page = Read(await renderer.page(everything()))
    for block in Block.__subclasses__():
        assert (
            any(
                block.__name__.lower() in (attributes.get("class") or "").split()
                for _, attributes in page.elements
            )
            or block.__name__ == "Media"
        )
    assert len(set(re.findall(r"\w+quokka", page.text))) > 15
    assert [tag for tag, _ in page.elements].count("h1") == 1
    headings = page.of("h1", "h2")
    assert len(headings) == len(set(headings))
    ids = Counter(attributes["id"] for _, attributes in page.elements if "id" in attributes)
    assert set(ids.values()) == {1}


async def test_its_policy_allows_its_own_style_and_script_alone(renderer: ViewRenderer) -> None:
    page = await renderer.page(everything(), Path("/films"))
    (policy,) = (
        a["content"] for _, a in Read(page).elements if "Policy" in str(a.get("http-equiv"))
    )
    assert policy is not None
    assert policy.startswith("default-src 'none'; img-src data:; media-src file: blob:;")
    for kind in ("style", "script"):
        texts = re.findall(rf"<{kind}>(.*?)</{kind}>", page, re.DOTALL)
        hashes = [base64.b64encode(hashlib.sha256(it.encode()).digest()).decode() for it in texts]
        allowed = " ".join(f"'sha256-{each}'" for each in hashes)
        assert f"{kind}-src {allowed};" in policy
        assert len(texts) == 3, "those of the page, of the film and of the graph"
    plain = await renderer.page(View("Plain", [Facts([("a", 1)])]))
    assert "media-src" not in plain
    assert plain.count("<script>") == 1


async def test_no_text_is_markup(renderer: ViewRenderer) -> None:
    text = "<script>alert(1)</script><img src=x onerror=alert(1)> \" ' & {{style}} %s </style>"
    page = Read(await renderer.page(View(text, [Facts([(text, text)])], [text], "", [text])))
    assert page.text.count(text) == 6
    assert [tag for tag, _ in page.elements].count("script") == 1


async def test_words_and_pictures_of_a_film_are_not_folded(renderer: ViewRenderer) -> None:
    line, slide = Line(1, 2, "linequokka"), Image("", "slidequokka")
    told = [
        Media("/films/a.mp4"),
        Transcript([line], detail=True),
        Pictures([slide], detail=True),
        Code("codequokka", title="As data", detail=True),
    ]
    page = await renderer.page(View("T", told))
    folded = "".join(re.findall("<details>.*?</details>", page, re.DOTALL))
    assert re.findall(r"\w+quokka", folded) == ["codequokka"]
    assert len(re.findall(r"\w+quokka", page)) == 3


async def test_a_fragment_has_no_head_and_no_script(renderer: ViewRenderer) -> None:
    whole, part = await renderer.page(everything()), await renderer.fragment(everything())
    assert part in whole
    assert {"html", "head", "style", "script"}.isdisjoint(tag for tag, _ in Read(part).elements)


async def test_no_heading_is_said_twice(renderer: ViewRenderer) -> None:
    told = [
        Prose("# Talk\n\n## Part\n\nWords.", title="Talk"),
        Prose("# Part\n\nMore.", title="Part"),
        Pages([DocumentPage(7, "Words")]),
    ]
    page = await renderer.page(View("Talk", told))
    assert re.findall(r"<(h\d)[^>]*>(.*?)</h\d>", page) == [
        ("h1", "Talk"),
        ("h2", "Part"),
        ("h2", "Part"),
        ("h2", "Page 7"),
    ]


async def test_references_lead_to_their_quotes(renderer: ViewRenderer) -> None:
    quote = Quote("As it stands.", Link("https://example.org/a", "A paper", page=3), "verified")
    shown = await renderer.fragment(View("T", [Prose("So it is [1], not [2].", [quote])]))
    assert '<a href="#r1-1" target="_self" class="reference">[1]</a>, not [2].' in shown
    (cited,) = re.findall('<li id="r1-1">(.*?)</li>', shown)
    assert '<q dir="auto">As it stands.</q>' in cited
    assert '<a href="https://example.org/a" rel="noopener noreferrer">A paper, page 3</a>' in cited
    assert "example.org</small>" in cited
    assert "The quote was found at this place." in cited


async def test_times_of_a_film_go_to_it_and_others_elsewhere(renderer: ViewRenderer) -> None:
    here, there = "file:///films/a.mp4#t=5", "https://b.example/w?t=7"
    moments = [Moment(5, "Here", link=here), Moment(6, "Film"), Moment(7, "There", link=there)]
    page = Read(await renderer.fragment(View("T", [Media("/films/a.mp4"), Moments(moments)])))
    times = [at for tag, at in page.elements if tag == "a" and at.get("class") == "at"]
    assert [(at["href"], at.get("data-at")) for at in times] == [
        (here, "5"),
        ("file:///films/a.mp4#t=6", "6"),
        (there, None),
    ]


async def test_marked_passages_are_found_over_line_ends(renderer: ViewRenderer) -> None:
    shown = DocumentPage(1, "It is a\nlong way <home>.", marked=["a long way <home>", "gone"])
    page = await renderer.fragment(View("T", [Pages([shown])]))
    assert "It is <mark>a\nlong way &lt;home&gt;</mark>." in page
    assert 'Marked: <mark dir="auto">gone</mark>' in page


async def test_ragged_and_empty_blocks_are_shown_as_far_as_they_go(renderer: ViewRenderer) -> None:
    told = [
        Table(["A"], [["1", "2"], []]),
        Matrix(["one", "two"], [Link()], [["x", "y"]]),
        Graph([Node("Alone")], [Edge(0, 5), Edge(-1, 0)]),
        Steps([Step("Half", "", 7, 3)]),
        *(Facts([]), Prose(" "), Table(["A"], []), Pictures([]), Moments([]), Transcript([])),
        *(Claims([]), Records([]), Code(""), Pages([])),
    ]
    page = Read(await renderer.page(View("T", [replace(it, title="Named") for it in told])))
    assert page.of("h2") == ["Named"] * 4
    assert page.of("td") == ["1", "2", "x", "y"]


async def test_what_was_found_in_the_film_plays_there(renderer: ViewRenderer) -> None:
    found = Item("Found", "", Link("file:///films/a.mp4#t=5", "A film", 5.0), (), "Kind/key")
    told = [Media("/films/a.mp4"), Records([found], 3), Records([found], 2)]
    page = await renderer.fragment(View("T", told))
    assert 'data-at="5"' in page
    assert "A film" not in page, "the title says it"
    assert "2 more are not shown here." in page
    assert "1 more is not shown here." in page
    assert "1 more is not shown here." in as_text(View("T", told))


async def test_every_film_of_a_page_may_be_loaded(renderer: ViewRenderer) -> None:
    here, web = Media("/films/a.mp4"), Media("https://films.example/b.mp4")
    beside = Compare(View("A", [here]), View("B", [web]))
    elsewhere = Media("https://www.youtube.com/watch?v=abc")
    for blocks, allowed in (
        ([elsewhere, here], "media-src file: blob:;"),
        ([here, web], "media-src file: blob: http: https:;"),
        ([beside], "media-src file: blob: http: https:;"),
    ):
        page = await renderer.page(View("Films", blocks), Path("/films"))
        assert allowed in page
        assert '<source src="a.mp4">' in page
