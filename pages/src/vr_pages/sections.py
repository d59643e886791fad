"""A view as a fragment: its head, the film, and a section for each block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from vr_kernel.views import (
    Block,
    Compare,
    Media,
    Moments,
    Transcript,
    View,
    as_text,
    is_web,
    shown_host,
)

from vr_pages.blocks import FORMS
from vr_pages.drawing import Drawing, apart
from vr_pages.markup import NOTHING, Html, element

_FILM = "film"
_LANES = frozenset({"Moments", "Pictures"})
"""Blocks that are a lane of the timeline."""


def fragment(view: View, drawing: Drawing) -> Html:
    """A whole view."""
    film = next((each for each in view.blocks if isinstance(each, Media)), None)
    said = next((each for each in view.blocks if film and isinstance(each, Transcript)), None)
    rest = [each for each in view.blocks if each is not film and each is not said]
    stage = _stage(view, drawing) if film else NOTHING
    words = _section(said, view, drawing, class_="said") if said else NOTHING
    article = element(
        "div", *_sections(rest, view, drawing), _notes(view.notes, drawing), class_="article"
    )
    left = element("div", stage, words, class_="left") if film else NOTHING
    return element(
        "div",
        _head(view, drawing),
        element("main", left, article),
        class_="view film" if film else "view",
    )


def _head(view: View, drawing: Drawing) -> Html:
    title = element("h1", view.title, dir="auto")
    return element("header", element("div", title, _about(view, drawing)), _search())


def _about(view: View, drawing: Drawing) -> Html:
    facts = [element("span", fact, dir="auto") for fact in view.about]
    if view.source:
        words = view.source if is_web(view.source) else shown_host(view.source)
        facts.insert(0, element("span", drawing.link(words, view.source)))
    return element("p", *apart(facts), class_="about") if facts else NOTHING


def _search() -> Html:
    """The place of the search, which needs the script."""
    words = element("span", "Find words on this page", class_="unseen")
    box = element("input", type="search", placeholder="Find words…", autocomplete="off")
    count = element("output", aria_live="polite")
    return element("div", count, element("label", words, box), class_="search", hidden=True)


def _stage(view: View, drawing: Drawing) -> Html:
    """The player, and the place of the timeline, which the script draws."""
    player = drawing.player
    assert player is not None
    drawing.brought[_FILM] = None
    return element(
        "section",
        player.element(),
        class_="stage",
        aria_label=player.media.title or "Player",
        data_duration=_length(view, player.media.duration),
    )


def _length(view: View, duration: float | None) -> float | None:
    """The length of the film; if it is not known, up to the last time on the page."""
    ends = [duration or 0.0]
    for block in view.blocks:
        if isinstance(block, Moments):
            ends += [moment.end or moment.start for moment in block.items]
        elif isinstance(block, Transcript):
            ends += [line.end for line in block.lines[-1:]]
    return max(ends) or None


def _sections(blocks: Sequence[Block], view: View, drawing: Drawing) -> Iterator[Html]:
    """Blocks in their order, details after all others."""
    for block in sorted(blocks, key=lambda each: each.detail):
        yield _section(block, view, drawing)


def _section(block: Block, view: View, drawing: Drawing, class_: str = "") -> Html:
    name = type(block).__name__
    repeated = block.title.casefold() == view.title.casefold()
    heading = drawing.heading(block.title) if block.title and not repeated else NOTHING
    level = drawing.level + 1 if heading else drawing.level
    inside = _inside(block, name, replace(drawing, level=level, title=view.title))
    if not inside:
        return NOTHING
    form = FORMS.get(name)
    if block.detail and (form is None or form.folded):
        summary = element("summary", heading or "Details")
        heading, inside = NOTHING, element("details", summary, inside)
    lane = (block.title or name) if name in _LANES else ""
    kinds = " ".join(filter(None, ("block", name.lower(), class_)))
    return element("section", heading, inside, class_=kinds, data_lane=lane)


def _inside(block: Block, name: str, drawing: Drawing) -> Html:
    if isinstance(block, Compare):
        sides = [_side(view, drawing) for view in (block.left, block.right)]
        return element("div", *sides, class_="sides")
    form = FORMS.get(name)
    if form is None:  # of a newer kernel
        return element("pre", as_text(View(block.title, [block])), tabindex="0")
    if form.brings:
        drawing.brought[form.brings] = None
    return form.draw(block, drawing)


def _side(view: View, drawing: Drawing) -> Html:
    """A view beside another; its film has no timeline."""
    inner = replace(drawing, level=drawing.level + 1, player=None)
    blocks = _sections(view.blocks, view, inner)
    about, notes = _about(view, inner), _notes(view.notes, inner)
    return element("section", drawing.heading(view.title), about, *blocks, notes, class_="side")


def _notes(notes: Sequence[str], drawing: Drawing) -> Html:
    items = [element("li", note, dir="auto") for note in notes]
    if not items:
        return NOTHING
    return element("section", drawing.heading("Notes"), element("ul", *items), class_="block notes")
