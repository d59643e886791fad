"""HTML that is built from elements, so that no text is ever taken for markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import accumulate, chain, pairwise

_WITHOUT_END = frozenset({"img", "source", "input", "br"})
_GAP = "\0"
"""A sign that no view has: its texts are cleaned."""


class Html(str):
    """Text that is HTML already; every other text is escaped."""

    __slots__ = ()


NOTHING = Html()
GAP = Html(_GAP)
"""The place in a pattern where each row has a value of its own."""


def element(name: str, *inside: str, **attributes: str | float | bool | None) -> Html:
    """An element; texts in it and in its attributes are escaped.

    `class_` stands for the attribute `class`, `data_at` for `data-at`. True makes an attribute
    without a value; False, None and the empty text leave it out.
    """
    written = "".join([_attribute(key, value) for key, value in attributes.items()])
    if name in _WITHOUT_END:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{joined(*inside)}</{name}>")


def escaped(text: str) -> Html:
    """A text in which no sign is markup."""
    return Html(escape(text))


def joined(*parts: str) -> Html:
    """Elements and texts, one after another."""
    return Html("".join([part if isinstance(part, Html) else escape(part) for part in parts]))


class Pattern:
    """Markup that many rows share; filling it is far quicker than building each row.

    Args:
        markup: elements with a `GAP` in each place where the rows differ.
    """

    def __init__(self, markup: Html) -> None:
        self._gaps = markup.count(_GAP)
        self._format = markup.replace("%", "%%").replace(_GAP, "%s")

    def rows(self, rows: Iterable[Sequence[str]]) -> Html:
        """Rows one after another; each has its values in the order in which the markup has them.

        Values are escaped unless they are HTML.
        """
        values = tuple(_all_escaped(list(chain.from_iterable(rows))))
        return Html(self._format * (len(values) // self._gaps) % values)

    def runs(self, rows: Iterable[Sequence[str]], lengths: Iterable[int]) -> list[Html]:
        """Rows as in `rows`, in runs of these lengths."""
        values = tuple(_all_escaped(list(chain.from_iterable(rows))))
        ends = list(accumulate((length * self._gaps for length in lengths), initial=0))
        return [
            Html(self._format * ((end - start) // self._gaps) % values[start:end])
            for start, end in pairwise(ends)
        ]


def _all_escaped(values: list[str]) -> list[str]:
    """Escape all at once, where none is HTML or has the sign that stands between them."""
    if Html not in set(map(type, values)):
        parts = escape(_GAP.join(values)).split(_GAP)
        if len(parts) == len(values):
            return parts
    return [value if isinstance(value, Html) else escape(value) for value in values]


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False or value == "":
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
