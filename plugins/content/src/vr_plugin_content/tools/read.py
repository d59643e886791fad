"""`content_read`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, READ_ONLY, Call, tool

from vr_plugin_content.arguments import Password
from vr_plugin_content.results.document import ContentPage


@tool(effects=READ_ONLY | CALLS_OUT, long=True, core=True, printed=("text", "text_uri"))
async def content_read(
    call: Call,
    source: Annotated[str, Field(description="Path or address")],
    cursor: Annotated[str | None, Field(description="next_cursor of a part")] = None,
    locator: Annotated[
        str | None, Field(description="p. 7-9, slide 3, lines 1-40, a heading")
    ] = None,
    pictures: bool = False,
    password: Password | None = None,
) -> ContentPage:
    """Read a document, page or folder as text with places, in parts; makes it searchable."""
    from vr_plugin_content.reading.answering import ReadRequest, read_part

    given = password.get_secret_value() if password else ""
    return await read_part(call, ReadRequest(source, cursor or "", locator or "", given, pictures))
