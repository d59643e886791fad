"""HTML that is built from elements, so that no text is ever taken for markup."""

from __future__ import annotations

from html import escape

from vr_kernel import visible

_WITHOUT_END = frozenset({"img", "source"})


class Html(str):
    """Text that is HTML already; every other text is escaped."""

    __slots__ = ()


def element(name: str, *inside: str, **attributes: str | float | bool | None) -> Html:
    """An element; texts in it and in its attributes are escaped.

    `class_` stands for the attribute `class`, `data_at` for `data-at`. True makes an attribute
    without a value; False, None and the empty text leave it out.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    end = "" if name in _WITHOUT_END else f"</{name}>"
    return Html(f"<{name}{written}>{joined(*inside)}{end}")


def joined(*parts: str) -> Html:
    """Elements and texts, one after another."""
    return Html("".join(part if isinstance(part, Html) else _escaped(part) for part in parts))


def _escaped(text: str) -> str:
    return escape(visible(text))


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False or value == "":
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{_escaped(str(value))}"'
