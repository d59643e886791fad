"""A tool: `almanac_find`, for people and for the model behind the front door."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field
from vr_kernel import READ_ONLY, Call, WebQuery, tool


class Page(BaseModel):
    """A page of the almanac, and what it says."""

    title: str
    url: str
    says: str


class Pages(BaseModel):
    """The pages that fit, best first."""

    pages: list[Page]


@tool(effects=READ_ONLY)
async def almanac_find(
    call: Call,
    words: Annotated[str, Field(min_length=1, max_length=200, description="What to look for.")],
) -> Pages:
    """Find what the almanac says of birds, frost and daylight in the course of the year."""
    from vr_plugin_almanac.search import AlmanacSearch

    found = await AlmanacSearch(call.services).search(call, WebQuery(words))
    pages = [Page(title=it.title, url=it.url, says=it.snippet) for it in found.results]
    return Pages(pages=pages)
