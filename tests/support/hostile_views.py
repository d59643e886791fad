"""Views in which a text of strangers is in every field, and the harmless ones to compare with."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from view_filling import filled
from vr_kernel.views import View, is_web
from vr_testing import sample_view

OWN = {"Prose", "Pages", "Code"}
FREE = {"Prose.text", "DocumentPage.text", "Code.text", "Image.text"}
"""Fields whose text has lines, lists and emphasis of its own."""
HARMLESS = {"file:///": "file:///films/ok", "C:\\": "C:\\ok", "//": "word", "/": "/films/ok"}
"""Addresses by their beginnings, and harmless ones of the same sort."""


@cache
def hostile(text: str) -> View:
    """The text in every field, on one line where lines would stay."""
    line = " ".join(text.split())
    view = sample_view()
    blocks = [it for it in view.blocks if type(it).__name__ not in OWN]
    return filled(replace(view, blocks=blocks), lambda place, _old: line if place in FREE else text)


@cache
def lively(text: str) -> View:
    """The text wherever it may have lines, lists and emphasis of its own."""
    view = sample_view()
    blocks = [it for it in view.blocks if type(it).__name__ in {*OWN, "Pictures"}]
    return filled(replace(view, blocks=blocks), lambda place, old: text if place in FREE else old)


def tame(text: str) -> str:
    """A harmless text of the same sort: an address for one, nothing for what is unseen."""
    if is_web(text):
        return "https://ok.example/"
    sort = next((it for it in HARMLESS if text.startswith(it)), "")
    word = "word" if View(text).title else ""
    return HARMLESS.get(sort, word)
