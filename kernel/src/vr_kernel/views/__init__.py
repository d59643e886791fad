"""Views: what there is to see, as data that is shown at a terminal, on a page, or as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.views.blocks import (
        Action,
        Block,
        Claim,
        Claims,
        Code,
        DocumentPage,
        Edge,
        Facts,
        File,
        Graph,
        Image,
        Item,
        Line,
        Matrix,
        Media,
        Moment,
        Moments,
        Node,
        Pages,
        Pictures,
        Prose,
        Records,
        Step,
        Steps,
        Table,
        Transcript,
    )
    from vr_kernel.views.data import as_data, from_data, image_address
    from vr_kernel.views.declaration import DeclaredView, view
    from vr_kernel.views.links import Cell, Link, Mark, Quote
    from vr_kernel.views.markdown import as_markdown
    from vr_kernel.views.model import MORE, Compare, View
    from vr_kernel.views.plain_text import as_text
    from vr_kernel.views.prose import Paragraph, Span, paragraphs
    from vr_kernel.views.records import item_of, title_of
    from vr_kernel.views.renderer import ViewRenderer
    from vr_kernel.views.service import Views
    from vr_kernel.views.speech import said_together
    from vr_kernel.views.words import (
        clock,
        is_local_file,
        is_web,
        link_words,
        said,
        shown_host,
        shown_instant,
        shown_size,
        titled,
    )
    from vr_kernel.views.writing import quote_sign, quote_words, step_words

__all__ = [  # noqa: RUF022 - sorted as a dictionary is
    "Action",
    "as_data",
    "as_markdown",
    "as_text",
    "Block",
    "Cell",
    "Claim",
    "Claims",
    "clock",
    "Code",
    "Compare",
    "DeclaredView",
    "Edge",
    "Facts",
    "File",
    "from_data",
    "Graph",
    "image_address",
    "is_local_file",
    "is_web",
    "Item",
    "item_of",
    "Line",
    "Mark",
    "Matrix",
    "Media",
    "Moment",
    "Moments",
    "MORE",
    "Node",
    "DocumentPage",
    "Pages",
    "Paragraph",
    "paragraphs",
    "Image",
    "Pictures",
    "Link",
    "link_words",
    "Prose",
    "Quote",
    "quote_sign",
    "quote_words",
    "Records",
    "said",
    "said_together",
    "shown_host",
    "shown_instant",
    "shown_size",
    "Span",
    "Step",
    "step_words",
    "Steps",
    "Table",
    "title_of",
    "titled",
    "Transcript",
    "View",
    "view",
    "ViewRenderer",
    "Views",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "blocks": "Action Block Claim Claims Code Edge Facts File Graph Item Line Matrix "
        "Media Moment Moments Node DocumentPage Pages Image Pictures Prose Records Step Steps "
        "Table Transcript",
        "data": "as_data from_data image_address",
        "declaration": "DeclaredView view",
        "markdown": "as_markdown",
        "links": "Cell Link Mark Quote",
        "plain_text": "as_text",
        "prose": "Paragraph Span paragraphs",
        "records": "item_of title_of",
        "renderer": "ViewRenderer",
        "service": "Views",
        "speech": "said_together",
        "model": "Compare MORE View",
        "words": "clock is_local_file is_web link_words said shown_host shown_instant shown_size"
        " titled",
        "writing": "quote_sign quote_words step_words",
    },
)
