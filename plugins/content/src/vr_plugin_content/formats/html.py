"""Pages of the web: the article without menus, cut at its headings."""

from __future__ import annotations

import re
from typing import BinaryIO

from vr_plugin_content.formats.encodings import blank, decoded
from vr_plugin_content.formats.html_sections import PageText, read_page
from vr_plugin_content.formats.markdown_sections import LARGEST, pieces_of, unescaped
from vr_plugin_content.formats.parsed import Asked, Parsed, ParseError, TextBudget

MIME = "text/html"
LEAST_SHARE = 0.2
"""Share of a page's text below which an article is not taken for all that matters."""
LEAST_HEADINGS = 0.1
"""Share of a page's headings below which an article has lost them."""
MOST_BYTES = 26_000_000
"""Most bytes of a page that are parsed."""
ARTICLE_CHARS, ARTICLE_TAGS, ARTICLE_DEPTH = 3_000_000, 40_000, 500
"""Larger and deeper pages are read without the search for their article: it takes seconds."""
LITTLE_TEXT = 600
"""Characters below which a page with a field for a password is taken for a login."""
META_BYTES = 4_096
_CHARSET = re.compile(rb"<(?:meta|\?xml)[^>]{0,500}?(?:charset|encoding)\s*=\s*[\"']?([\w-]{1,40})")
_RAISED = re.compile(r"</?su[bp]>")
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
_PERMALINK = re.compile(r"¶[ \t]*$", re.MULTILINE)
"""The sign behind a heading or a definition that links to it."""


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Read a page: its article as Markdown where there is one, else all of its text.

    Raises:
        ParseError: DOCUMENT_EMPTY for a page without text, which may need a browser or a login.
    """
    content = file.read(MOST_BYTES + 1)
    markup = decoded(content[:MOST_BYTES], asked.charset or _charset(content))
    page = read_page(markup)
    text, limits = _PERMALINK.sub("", _best(markup, page, asked.address)), _limits(page)
    if not text.strip():
        raise _wordless(limits)
    budget = TextBudget(asked.bounds)
    pieces, outline = pieces_of(text[:LARGEST], page.title or asked.name or "page", budget, None)
    if page.cut or len(content) > MOST_BYTES or len(text) > LARGEST:
        limits.append("Only the first part of this page was read; save its parts as files.")
    if not pieces:
        raise blank()
    return Parsed(MIME, page.title, pieces, outline, limits=[*limits, *budget.limits])


def _charset(content: bytes) -> str:
    """Return the encoding that a page says it is in."""
    found = _CHARSET.search(content[:META_BYTES].lower())
    return found[1].decode("ascii", "replace") if found else ""


def _best(markup: str, page: PageText, address: str) -> str:
    """The text of the article, unless it loses most of the page or of its headings.

    One with more headings than the page has made them of lines of code, such as `# include`.
    """
    large = len(markup) > ARTICLE_CHARS or markup.count("<") > ARTICLE_TAGS
    found = "" if large or page.depth > ARTICLE_DEPTH else _article(markup, address)
    if len(found) < LEAST_SHARE * len(page.text):
        return page.text
    headings = len(_HEADING.findall(_FENCED.sub("", found)))
    if not LEAST_HEADINGS * page.headings <= headings <= page.headings:
        return page.text
    return unescaped(_RAISED.sub("", found))


def _article(markup: str, address: str) -> str:
    """The article of a page as Markdown; empty without one, and without its library."""
    try:
        from trafilatura import extract
    except ImportError:
        return ""
    found = extract(
        markup,
        url=address or None,
        output_format="markdown",
        include_tables=True,
        include_comments=False,
        favor_recall=True,  # without it a page of many small blocks takes quadratic time
    )
    return found or ""


def _limits(page: PageText) -> list[str]:
    if page.asks_password and len(page.text) < LITTLE_TEXT:
        return ["This page seems to ask for a login; save it from your browser and read the file."]
    if page.scripts and len(page.text) < LITTLE_TEXT // 3:
        return ["This page is made by scripts, which are not run; it may show more in a browser."]
    return []


def _wordless(limits: list[str]) -> ParseError:
    hint = " ".join(limits) or "Save it from your browser and read the file."
    return ParseError("DOCUMENT_EMPTY", "This page has no text of its own.", hint)
