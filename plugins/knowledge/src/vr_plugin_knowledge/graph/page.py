"""A part of a graph as one HTML file that opens from the disk and needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from typing import Any

from vr_kernel import visible, visible_json

from vr_plugin_knowledge.graph.citations import Citation
from vr_plugin_knowledge.graph.concepts import UNKNOWN
from vr_plugin_knowledge.graph.layout import lay_out
from vr_plugin_knowledge.graph.traversal import Region

SHOWN_CITATIONS = 12
_IN_SCRIPT = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def as_page(region: Region, title: str) -> str:
    """Render the page; texts are data in it, and its policy blocks all foreign content.

    Raises:
        VrError: UNAVAILABLE, category EXTRA_MISSING, without rustworkx.
    """
    here = files(__package__)
    style, script = (here.joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    policy = f"default-src 'none'; style-src {_allowed(style)}; script-src {_allowed(script)}"
    told = json.dumps(_data(region, title), ensure_ascii=False, separators=(",", ":"))
    parts = {
        "policy": escape(policy),
        "title": escape(visible(title)),
        "style": style,
        "data": visible_json(told).translate(_IN_SCRIPT),
        "script": script,
    }
    page = here.joinpath("page.html").read_text("utf-8")
    before, *rest = page.split("{{")
    pieces = (piece.partition("}}") for piece in rest)
    return before + "".join(parts[name] + after for name, _, after in pieces)


def _data(region: Region, title: str) -> dict[str, Any]:
    places = {identity: number for number, identity in enumerate(region.concepts)}
    ends = [(places[each.start], places[each.end]) for each in region.relations]
    layout = lay_out(len(places), ends)
    nodes = [
        {
            "name": concept.name,
            "state": concept.state or UNKNOWN,
            "about": concept.description,
            "aliases": concept.aliases,
            "score": region.score(identity),
            "seed": identity in region.seeds,
            "at": layout[places[identity]],
            "sources": _cited(concept.citations),
        }
        for identity, concept in region.concepts.items()
    ]
    edges = [
        {
            "from": places[each.start],
            "to": places[each.end],
            "type": each.kind,
            "sources": _cited(each.citations),
        }
        for each in region.relations
    ]
    return {"title": title, "nodes": nodes, "edges": edges}


def _cited(citations: tuple[Citation, ...]) -> list[dict[str, str]]:
    return [
        {
            "quote": each.quote,
            "link": each.link,
            "label": _label(each),
            "record": "/".join(each.record),
        }
        for each in citations[:SHOWN_CITATIONS]
    ]


def _label(citation: Citation) -> str:
    """The text of a link to a source: its title and moment; empty without a title."""
    seconds = citation.seconds
    if not citation.title or seconds is None:
        return citation.title
    minutes, rest = divmod(int(seconds), 60)
    return f"{citation.title}, {minutes}:{rest:02}"


def _allowed(text: str) -> str:
    """The hash by which a content security policy allows exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
