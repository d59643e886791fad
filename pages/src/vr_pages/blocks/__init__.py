"""The blocks of views as HTML, and the style sheets and scripts that some of them bring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vr_pages.blocks import document_pages, evidence, lists, pictures, texts
from vr_pages.drawing import Drawing
from vr_pages.film import blocks as film
from vr_pages.graph import blocks as graph
from vr_pages.markup import Html

__all__ = ["FORMS", "Form"]


@dataclass(frozen=True, slots=True)
class Form:
    """A block as HTML.

    Args:
        draw: makes the elements of a block, without its heading; nothing for one that is empty.
        brings: the folder whose `page.css` and `page.js` a page with such a block has, too.
        folded: shown when asked for, if it is a detail.
    """

    draw: Callable[[Any, Drawing], Html]
    brings: str = ""
    folded: bool = True


FORMS = {
    "Facts": Form(texts.facts),
    "Prose": Form(texts.prose),
    "Table": Form(texts.table),
    "Code": Form(texts.code),
    "Pictures": Form(pictures.pictures, folded=False),
    "Pages": Form(document_pages.pages, folded=False),
    "Media": Form(film.media, "film", folded=False),
    "Moments": Form(film.moments, "film", folded=False),
    "Transcript": Form(film.transcript, "film", folded=False),
    "Claims": Form(evidence.claims),
    "Matrix": Form(evidence.matrix),
    "Graph": Form(graph.graph, "graph"),
    "Steps": Form(lists.steps),
    "Records": Form(lists.records),
    "Action": Form(lists.action),
    "File": Form(lists.file),
}
"""By the name of the block; `Compare` holds views, which `vr_pages.sections` draws."""
