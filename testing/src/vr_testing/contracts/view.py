"""Checks of a view: it is whole in every form, and readable."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from html.parser import HTMLParser
from typing import Any

from vr_kernel.views import (
    Compare,
    Facts,
    View,
    ViewRenderer,
    as_data,
    as_markdown,
    as_text,
    from_data,
    paragraphs,
    said,
    shown_instant,
)

PROSE = {"Prose.text", "DocumentPage.text"}
"""Texts of which the signs of Markdown are not read."""
UNSEEN = {
    *("address", "link", "source", "image", "language", "kind", "mark", "arguments", "at"),
    *("id", "groups", "facets", "tool", "detail"),
}
"""Fields with addresses, choices and names that some forms show in words of their own."""
FAILED = "This is its plain form."
_DIGEST = re.compile(r"(?<![0-9A-Za-z])(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{32,}")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_WORDLESS = re.compile(r"[\W_]+")


async def check_view(view: View, renderer: ViewRenderer | None = None) -> None:
    """Check that a view can be read wherever it is shown: as Markdown, text, data and HTML.

    Every text of it is in each form, no heading comes twice, nobody has to read a digest, and
    nothing of it steers a terminal or a page.

    Args:
        view: what a plugin made.
        renderer: writes HTML; that is left out without one.

    Raises:
        AssertionError: naming what does not hold.
    """
    assert not any(FAILED in note for note in view.notes), f"the view failed: {view.notes}"
    told = list(dict.fromkeys(_told(view)))
    _check_words(view, told)
    stored = json.dumps(as_data(view), ensure_ascii=False, allow_nan=False)
    assert from_data(json.loads(stored)) == view, "it is another view when its data is read"
    forms = {"Markdown": as_markdown(view), "plain text": as_text(view)}
    for name, text in forms.items():
        assert not _CONTROL.search(text), f"{name} has signs that steer a terminal"
    if renderer is not None:
        page = _Page()
        page.feed(await renderer.fragment(view))
        assert not page.strange, f"the page has {page.strange[0]}"
        forms["HTML"] = " ".join(page.read)
    for name, text in forms.items():
        shown = _WORDLESS.sub("", text)
        lost = [each for _, each in told if _WORDLESS.sub("", each) not in shown]
        assert not lost, f"{name} lacks {lost[0][:200]!r}"


def _check_words(view: View, told: Sequence[tuple[str, str]]) -> None:
    """See that a person can read it, wherever it is shown."""
    for each in _views(view):
        assert each.title.strip(), "a view has no title"
        heads = Counter([each.title, *filter(None, (block.title for block in each.blocks))])
        twice = [head for head, count in heads.items() if count > 1]
        assert not twice, f"the heading {twice[0]!r} comes twice"
    for place, text in told:
        held = None if place == "Code.text" else _DIGEST.search(text)
        assert held is None, f"{place}: nobody reads a digest: {text[:200]!r}"


def _views(view: View) -> Iterator[View]:
    """A view, and those that it compares."""
    yield view
    for block in view.blocks:
        if isinstance(block, Compare):
            yield from (*_views(block.left), *_views(block.right))


def _told(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """The texts that are read, and the fields they are of; of prose each paragraph."""
    if isinstance(value, str):
        told = _spans(value) if place in PROSE else [shown_instant(value)]
        yield from ((place, text) for text in told)
    elif isinstance(value, Facts):
        yield "Facts.title", value.title
        yield from _told(tuple(row for row in value.rows if said(row[1])), "Facts.rows")
    elif is_dataclass(value):
        for field in fields(value):
            if field.name not in UNSEEN:
                yield from _told(getattr(value, field.name), f"{type(value).__name__}.{field.name}")
    elif isinstance(value, tuple):
        yield from (found for each in value for found in _told(each, place))


def _spans(text: str) -> Iterator[str]:
    """The words of a text, without its signs."""
    yield from (span.text for paragraph in paragraphs(text) for span in paragraph.spans)


class _Page(HTMLParser):
    """The words of a page, and what no view may bring into it."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []
        self.strange: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what runs."""
        self.strange += [f"<{tag}>"] if tag in {"script", "iframe", "object", "embed"} else []
        self.strange += [name for name, _ in attrs if name.startswith("on")]
        self.read += [value for name, value in attrs if name in {"alt", "aria-label"} and value]

    def handle_data(self, data: str) -> None:
        """Keep the words."""
        self.read.append(data)
