"""Claims with their quotes, and claims against sources."""

from __future__ import annotations

from vr_kernel.views import Claim, Claims, Matrix, Quote

from vr_pages.drawing import Drawing
from vr_pages.markup import NOTHING, Html, element, joined


def claims(block: Claims, drawing: Drawing) -> Html:
    """Claims, each with how well it stands, and what speaks for and against it."""
    items = [_claim(each, drawing) for each in block.items]
    return element("ol", *items, class_="claims") if items else NOTHING


def _claim(claim: Claim, drawing: Drawing) -> Html:
    tier = element("span", claim.tier, class_="chip") if claim.tier else NOTHING
    return element(
        "li",
        element("p", element("strong", claim.text), " ", tier, dir="auto"),
        *(drawing.quote(quote) for quote in claim.quotes),
        *(_against(quote, drawing) for quote in claim.against),
    )


def _against(quote: Quote, drawing: Drawing) -> Html:
    return element("div", element("b", "Against"), drawing.quote(quote), class_="against")


def matrix(block: Matrix, drawing: Drawing) -> Html:
    """Claims in rows, sources in columns."""
    pairs = list(zip(block.claims, block.cells, strict=False))
    if not pairs:
        return NOTHING
    names = [element("th", drawing.place(source), scope="col") for source in block.sources]
    rows = [
        element(
            "tr",
            element("th", claim, scope="row", dir="auto"),
            *(element("td", cell, dir="auto") for cell in cells),
        )
        for claim, cells in pairs
    ]
    head = element("thead", element("tr", element("th", "Claim", scope="col"), *names))
    shown = element("table", head, element("tbody", *rows), class_="matrix")
    label = block.title or "Claims and sources"
    return joined(
        element("div", shown, class_="wide", tabindex="0", role="region", aria_label=label)
    )
