"""Pages of the web as sections."""

from __future__ import annotations

import sys
import time
from io import BytesIO

import pytest
from contentkit import DATA, needs_data
from vr_plugin_content.formats import html
from vr_plugin_content.formats.parsed import Asked, Parsed, ParseError

WORDS = "<p>" + "Some words that make a paragraph of a page. " * 12 + "</p>"
PAGE = f"""<html><head><title> A  page </title><style>STYLE</style></head><body>
<nav><a href=x>MENU</a></nav><script>SCRIPT</script><div hidden>HIDDEN</div>
<h1>Top</h1>{WORDS}<h2>Part #1¶</h2><p>One<br>two &amp; &lt;three&gt;</p>
<ul><li>first<li>second <b>bold</b></ul><table><tr><th>a<th>b|c<tr><td>1<td><p>2</p></table>
<pre>  code
    more</pre><h2>Last</h2>{WORDS}</body></html>"""


def read(markup: str | bytes, **asked: str) -> Parsed:
    content = markup.encode() if isinstance(markup, str) else markup
    return html.parse(BytesIO(content), Asked(**{"name": "a.html", **asked}))


def text_of(found: Parsed) -> str:
    return "\n\n".join(piece.text for piece in found.pieces)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library that finds articles."""
    monkeypatch.setitem(sys.modules, "trafilatura", None)


@pytest.mark.usefixtures("alone")
def test_a_page_is_cut_at_its_headings_and_keeps_lists_tables_and_code() -> None:
    found = read(PAGE)
    assert found.title == "A page"
    places = [piece.place for piece in found.pieces]
    assert places == [
        {"heading": ["Top"]},
        {"heading": ["Top", "Part #1"]},
        {"heading": ["Top", "Last"]},
    ]
    assert [(entry.text, entry.level) for entry in found.outline] == [
        ("Top", 1),
        ("Part #1", 2),
        ("Last", 2),
    ]
    part = found.pieces[1].text
    for kept in (
        "One\ntwo & <three>",
        "- first\n\n- second bold",
        "| a | b\\|c |\n| --- | --- |\n| 1 | 2 |",
        "```\n  code\n    more\n```",
    ):
        assert kept in part
    for left_out in ("STYLE", "SCRIPT", "MENU", "HIDDEN"):
        assert left_out not in text_of(found)


@pytest.mark.usefixtures("alone")
def test_a_table_that_only_arranges_a_page_keeps_its_headings_and_words_once() -> None:
    inner = "<table><tr><td>x<td>y</table>"
    found = read(f"<table><tr><td>menu<td><h1>Top</h1>{WORDS}{inner}</td></tr></table>")
    assert [piece.place["heading"] for piece in found.pieces] == [["Top"], ["Top"]]
    assert text_of(found).count("| x | y |") == 1


@pytest.mark.usefixtures("alone")
def test_words_of_a_page_do_not_become_marks() -> None:
    found = read("<p># no heading</p><p>```</p><p>&lt;!-- open</p><h1>Real</h1><p>end</p>")
    assert [entry.text for entry in found.outline] == ["Real"]


def test_an_article_is_found_and_every_heading_of_a_manual_is_kept() -> None:
    pytest.importorskip("trafilatura")
    related = "".join(f'<aside><a href="{n}">RELATED {n}</a></aside>' for n in range(5))
    news = "".join(f"<p>Paragraph {n} says something else, at some length.</p>" for n in range(50))
    article = read(f"<html><body>{related}<article><h1>News</h1>{news}</article></body></html>")
    assert "RELATED" not in text_of(article)
    manual = "".join(f"<dl><dt><h3>name_{n}</h3></dt><dd>{WORDS}</dd></dl>" for n in range(30))
    assert len(read(f"<html><body><h1>Manual</h1>{manual}</body></html>").outline) >= 30


def test_an_article_has_no_signs_of_links_and_no_lines_of_code_as_headings() -> None:
    pytest.importorskip("trafilatura")
    manual = read(f"<html><body><h1>Manual¶</h1>{WORDS}<h2>1. Use¶</h2>{WORDS}</body></html>")
    assert [entry.text for entry in manual.outline] == ["Manual", "1. Use"]
    assert "¶" not in text_of(manual)
    code = "#if MSDOS\n#  include &lt;io.h&gt;\n## a comment\n#endif\n"
    example = read(f"<html><body><h1>Use</h1>{WORDS}<pre><b>{code}</b></pre>{WORDS}</body></html>")
    assert [entry.text for entry in example.outline] == ["Use"]
    assert "#  include <io.h>" in text_of(example)


@needs_data
def test_real_pages_keep_their_headings_and_tables() -> None:
    pages = {
        "mid_test_blog": (4, "Experiment Results", ""),
        "mid_test_wikipedia": (31, "History", "|"),
    }
    for name, (headings, heading, row) in pages.items():
        found = read((DATA / "media" / f"{name}.html").read_bytes())
        assert len(found.outline) >= headings
        assert any(heading in piece.place["heading"] for piece in found.pieces)
        assert all(piece.place["heading"] for piece in found.pieces)
        assert row in text_of(found)


def test_the_encoding_is_the_one_that_the_server_or_the_page_says() -> None:
    page = "<html><head><meta charset='{}'><title>Привет</title></head><p>шум и слова</p>"
    said = page.format("KOI8-R").encode("koi8-r")
    assert read(said).title == "Привет"
    assert "шум" in text_of(read(page.format("x").encode("koi8-r"), charset="koi8-r"))
    assert read(page.format("utf-16").encode()).title == "Привет"


def test_the_title_is_the_shared_one_or_the_first_heading_where_there_is_no_other() -> None:
    shared = '<meta property="og:title" content="Shared">'
    assert read(f"<head>{shared}</head><h1>Top</h1>{WORDS}").title == "Shared"
    assert read(f"<svg><title>Drawn</title></svg><h1>Top</h1>{WORDS}").title == "Top"


def test_a_page_of_scripts_and_a_login_are_told() -> None:
    with pytest.raises(ParseError) as caught:
        read("<html><body><div id=root></div><script>var SECRET</script></body></html>")
    assert caught.value.category == "DOCUMENT_EMPTY"
    assert "scripts" in caught.value.hint
    found = read("<title>Sign in</title><form>Password <input type=password></form>")
    assert "login" in found.limits[0]


@pytest.mark.parametrize(
    "hostile",
    [
        "<div>" * 30_000 + WORDS, "<b>" * 30_000 + WORDS, "<div><p>a b</p></div>" * 60_000 + WORDS,
        "<table><tr><td>" * 20_000 + WORDS, "<pre>" * 20_000 + WORDS, "<h1>a</h1>" * 50_000 + WORDS,
        WORDS + "<plaintext>" + "<p>a </p>" * 100_000, WORDS + "<!--" * 500_000,
        '<!DOCTYPE html [<!ENTITY a "bbb"><!ENTITY c "&a;&a;&a;">]>' + WORDS + "<p>&c;" * 10_000,
        WORDS + "<select>" + "<option>x" * 100_000,
    ],
    ids=["divs", "b", "blocks", "tables", "pre", "h1", "plaintext", "comment", "entity", "options"],
)  # fmt: skip
def test_hostile_pages_are_read_in_bounded_time(hostile: str) -> None:
    began = time.process_time()
    found = read(hostile)
    assert time.process_time() - began < 8
    assert "Some words" in text_of(found)
    assert all(piece.place for piece in found.pieces)
    assert len(text_of(found)) < 3 * len(hostile)
