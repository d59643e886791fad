"""One HTML file that opens from the disk: its head, style, script and policy."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from vr_pages.markup import Html, escaped


def document(title: str, body: Html, brought: Iterable[str], media: str = "") -> str:
    """The page; its content security policy allows its own style and script alone.

    Args:
        body: the view.
        brought: the folders whose style sheet and script it needs besides.
        media: sources from which films may be loaded.
    """
    folders: list[tuple[str, ...]] = [(), *((name,) for name in brought)]
    styles = [_text(*folder, "page.css") for folder in folders]
    scripts = [_text(*folder, "page.js") for folder in folders]
    parts = {
        "policy": escaped(_policy(styles, scripts, media)),
        "title": escaped(title),
        "styles": "\n".join(f"<style>{style}</style>" for style in styles),
        "body": body,
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    before, *rest = _text("page.html").split("{{")
    pieces = (piece.partition("}}") for piece in rest)
    return before + "".join(parts[name] + after for name, _, after in pieces)


def _policy(styles: Iterable[str], scripts: Iterable[str], media: str) -> str:
    played = f" media-src {media};" if media else ""
    return (
        f"default-src 'none'; img-src data:;{played} style-src {_allowed(styles)};"
        f" script-src {_allowed(scripts)}; base-uri 'none'; form-action 'none';"
        " require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _allowed(texts: Iterable[str]) -> str:
    """The source expressions by which a content security policy allows exactly these texts."""
    digests = (hashlib.sha256(text.encode()).digest() for text in texts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


@cache
def _text(*path: str) -> str:
    """A file of this package."""
    return files("vr_pages").joinpath(*path).read_text("utf-8")
