"""Words that a tagged PDF gives for its pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vr_plugin_content.formats.pdf_form_fields import text_of

MOST_ELEMENTS = 5_000
"""Most elements of a page that are looked at."""
ALT_CHARS = 1_000


def mark_of(image: Any) -> int:
    """Return the number by which the structure of a page names a picture; -1 for none."""
    import pypdfium2.raw

    return int(pypdfium2.raw.FPDFPageObj_GetMarkedContentID(image))


def alt_texts_of(page: Any) -> Mapping[int, str]:
    """Return the words for the pictures of a page by their numbers; none when it is not tagged."""
    import pypdfium2.raw

    tree = pypdfium2.raw.FPDF_StructTree_GetForPage(page)
    if not tree:
        return {}
    try:
        return dict(_named(tree, pypdfium2.raw))
    finally:
        pypdfium2.raw.FPDF_StructTree_Close(tree)


def _named(tree: Any, raw: Any) -> Iterator[tuple[int, str]]:
    """Walk over the elements; the words of one hold for all that stands in it."""
    count = min(raw.FPDF_StructTree_CountChildren(tree), MOST_ELEMENTS)
    waiting = [(raw.FPDF_StructTree_GetChildAtIndex(tree, at), "") for at in range(count)]
    for _ in range(MOST_ELEMENTS):
        if not waiting:
            return
        element, above = waiting.pop()
        if not element:
            continue
        alt = _alt(element, raw) or above
        if alt:
            marks = range(max(raw.FPDF_StructElement_GetMarkedContentIdCount(element), 0))
            for at in marks[:MOST_ELEMENTS]:
                yield raw.FPDF_StructElement_GetMarkedContentIdAtIndex(element, at), alt
        children = max(raw.FPDF_StructElement_CountChildren(element), 0)
        within = range(min(children, MOST_ELEMENTS - len(waiting)))
        waiting += [(raw.FPDF_StructElement_GetChildAtIndex(element, at), alt) for at in within]


def _alt(element: Any, raw: Any) -> str:
    return " ".join(text_of(raw.FPDF_StructElement_GetAltText, element).split())[:ALT_CHARS]
