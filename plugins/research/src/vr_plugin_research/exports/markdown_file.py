"""A report as Markdown, in which each quote is a link to its page or second."""

from __future__ import annotations

from vr_kernel.views import View, as_markdown


def markdown_of(view: View) -> bytes:
    """The view of a report as Markdown."""
    return as_markdown(view).encode("utf-8", "replace")
