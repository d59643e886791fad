"""The text of a page as Markdown, by a walk through its elements."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from vr_plugin_content.formats.encodings import without_controls

HEADINGS = {f"h{level}": level for level in range(1, 7)}
BLOCKS = frozenset({
    "p", "div", "section", "article", "main", "header", "footer", "aside", "ul", "ol", "li",
    "dl", "dt", "dd", "blockquote", "figure", "figcaption", "address", "details", "summary",
    "form", "fieldset", "legend", "hr", "center", "body", "table", "caption", "tr", "td",
    "th",
})  # fmt: skip
"""Elements that words before and behind them are no part of."""
LEFT_OUT = frozenset({
    "head", "script", "style", "noscript", "template", "svg", "math", "iframe", "object",
    "nav", "select", "textarea", "dialog",
})  # fmt: skip
"""Elements whose words are not those of the page: programs, menus, what is not shown."""
LAYOUT = "table, h1, h2, h3, h4, h5, h6, pre, ul, ol"
"""Elements in a row of a table that only puts things side by side."""
TITLE_CHARS = 300
HEADING_CHARS = 500
"""Longest heading; longer ones are read as paragraphs, for every place below repeats it."""
TABLE_CHARS = 1_500
"""Characters of rows, about, after which the header of a table is repeated."""
MOST_ELEMENTS = 500_000
"""Elements and texts that are walked through, which takes about a second."""
LINE = "\x1e"
_BAR = "\\|"
_CHOICE = re.compile(r"<(?=opt(?:ion|group)\b)", re.IGNORECASE)
"""Begins a choice of a form, in whose number the parser takes quadratic time."""
_MARK = re.compile(r"[#<`~]")


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page.

    Attributes:
        title: as the page names itself.
        text: in Markdown: headings, paragraphs, items of lists, rows of tables, code.
        headings: how many there are.
        depth: of its elements in each other.
        scripts: how many scripts it has.
        asks_password: True when it has a field for a password.
        cut: True when it has more elements than are walked through.
    """

    title: str
    text: str
    headings: int
    depth: int
    scripts: int
    asks_password: bool
    cut: bool


def read_page(markup: str) -> PageText:
    """Read the text of a page."""
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(_CHOICE.sub("<x-", markup))
    walk = _Walk()
    if (root := page.body or page.root) is not None:
        walk.through(root)
    return PageText(
        _title(page),
        without_controls("\n\n".join(walk.lines)),
        walk.headings,
        walk.deepest,
        len(page.css("script")),
        page.css_first("input[type=password]") is not None,
        walk.seen > MOST_ELEMENTS,
    )


def _title(page: Any) -> str:
    """The title of the page, or the one for those who share it, or its first heading."""
    shared = page.css_first("meta[property='og:title']")
    found = (
        _words(page.css_first("head > title")),
        (shared.attributes.get("content") or "") if shared is not None else "",
        _words(page.css_first("h1")),
    )
    named = (" ".join(each.split()) for each in found)
    return without_controls(next(filter(None, named), ""))[:TITLE_CHARS]


def _words(node: Any) -> str:
    return str(node.text(deep=True)) if node is not None else ""


@dataclass(slots=True)
class _Walk:
    """A walk through elements in their order.

    Attributes:
        lines: finished blocks, in Markdown.
        headings: how many of them are headings.
        seen: elements and texts so far; `deepest` is how far they stand in each other.
        words: of the block at hand.
        cells: finished ones of the row at hand; None outside of a row.
        table: finished rows of the block at hand, in Markdown.
        code: depth of the code at hand; 0 outside of code.
    """

    lines: list[str] = field(default_factory=list)
    headings: int = 0
    seen: int = 0
    deepest: int = 0
    words: list[str] = field(default_factory=list)
    cells: list[str] | None = None
    table: list[str] = field(default_factory=list)
    code: int = 0

    def through(self, root: Any) -> None:
        """Walk without recursion, which deep nesting would exhaust."""
        node, path = root, list[Any]()
        while self.seen <= MOST_ELEMENTS:
            self.seen += 1
            below = node.first_child if self._enter(node, len(path)) else None
            if below is not None:
                path.append(node)
                self.deepest = max(self.deepest, len(path))
                node = below
                continue
            self._leave(node, len(path))
            while path and node.next is None:
                node = path.pop()
                self._leave(node, len(path))
            if not path:
                break
            node = node.next
        self._end()
        self._end_table()

    def _enter(self, node: Any, depth: int) -> bool:
        """Begin an element, and say if its content belongs to the page."""
        tag = node.tag
        if node.is_text_node:
            self.words.append(node.text_content or "")
        elif tag == "br":
            self.words.append(LINE)
        elif not node.is_element_node or tag in LEFT_OUT or _is_hidden(node):
            return False
        elif tag in HEADINGS or tag in BLOCKS or tag == "pre":
            self._begin(node, tag, depth)
        return True

    def _begin(self, node: Any, tag: str, depth: int) -> None:
        self._end()
        if tag == "tr" and self.cells is None and node.css_first(LAYOUT) is None:
            self.cells = []
        elif self.cells is None and tag not in ("tbody", "tr", "td", "th"):
            self._end_table()
        if tag == "li" and self.cells is None:
            self.words.append("- ")
        if tag == "pre" and not self.code and self.cells is None:
            self.code = depth + 1

    def _leave(self, node: Any, depth: int) -> None:
        """End an element."""
        tag = node.tag
        if tag in HEADINGS and self.cells is None and not self.code:
            self._end_heading(HEADINGS[tag])
        elif tag == "pre" and self.code == depth + 1:
            self._end_code()
        elif self.cells is not None and tag in ("td", "th"):
            self.cells.append(" ".join(self._said().replace(LINE, " ").split()))
        elif self.cells is not None and tag == "tr":
            self._end_row(self.cells)
        elif tag in BLOCKS:
            self._end()

    def _said(self) -> str:
        said = "".join(self.words)
        self.words.clear()
        return said

    def _end(self) -> None:
        """End a block; in a cell and in code it is only a break between words."""
        if self.code or self.cells is not None:
            self.words.append(LINE)
            return
        lines = (" ".join(line.split()) for line in self._said().split(LINE))
        said = "\n".join(f"\\{line}" if _MARK.match(line) else line for line in lines if line)
        if said.strip("- "):
            self._end_table()
            self.lines.append(said)

    def _end_heading(self, level: int) -> None:
        words = " ".join(self._said().replace(LINE, " ").split()).removesuffix("¶").strip()
        if len(words) > HEADING_CHARS:
            self.lines.append(f"\\{words}" if _MARK.match(words) else words)
        elif words:
            self.headings += 1
            self.lines.append(f"{'#' * level} {words}")

    def _end_code(self) -> None:
        self.code = 0
        code = self._said().replace(LINE, "\n").strip("\n")
        longest = max(map(len, re.findall("`+", code)), default=0)
        fence = "`" * max(3, longest + 1)
        if code.strip():
            self.lines.append(f"{fence}\n{code}\n{fence}")

    def _end_row(self, cells: list[str]) -> None:
        self.cells = None
        self.words.clear()
        if not any(cells):
            return
        if sum(map(len, self.table[2:])) > TABLE_CHARS:
            head = self.table[:2]
            self._end_table()
            self.table = head
        self.table.append(f"| {' | '.join(cell.replace('|', _BAR) for cell in cells)} |")
        if len(self.table) == 1:
            self.table.append(f"|{' --- |' * len(cells)}")

    def _end_table(self) -> None:
        if self.table:
            self.lines.append("\n".join(self.table))
            self.table = []


def _is_hidden(node: Any) -> bool:
    said = node.attributes
    return bool(said) and (
        "hidden" in said or said.get("aria-hidden") == "true" or said.get("role") == "navigation"
    )
