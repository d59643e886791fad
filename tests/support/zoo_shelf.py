"""A plugin of the zoo whose results are there to be read: documents, pictures, empty lists."""

from typing import Any

from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, Code, VrError, hookimpl, tool

TEXT = "1\n  Emma\n\n"
WHOLE = f"{TEXT}2\n  Woodhouse\n\n"


class Read(BaseModel):
    """A document, and where the whole of it is."""

    title: str
    text: str = ""
    whole_uri: str = ""
    next_cursor: str | None = None
    cached: bool = False


class Quoted(BaseModel):
    """A place in a book."""

    title: str
    page: int


class Hit(BaseModel):
    """A book with its picture."""

    title: str
    uri: str


class Hits(BaseModel):
    """Things that were found."""

    results: list[Hit]
    notes: list[str] = []
    ranked: bool = False
    next_cursor: str | None = None


@tool(effects=READ_ONLY, printed=("text", "whole_uri"))
async def shelf_read(call: Call, title: str, keep: bool = True) -> Read:
    """Read a book."""
    if not title:
        return Read(title="Nothing")
    call.note("By heart.")
    kept = call.artifact(WHOLE.encode(), "text/plain").uri if keep else "vr://artifacts/gone"
    return Read(title=title, text=TEXT, whole_uri=kept, next_cursor="2")


@tool(effects=READ_ONLY)
async def shelf_quote(call: Call, title: str, page: int) -> Quoted:
    """Quote a book."""
    return Quoted(title=title, page=page)


@tool(effects=READ_ONLY, command="search")
async def shelf_find(call: Call, title: str, limit: int = 10) -> Hits:
    """Find books."""
    if title == "nobody":
        return Hits(results=[])
    kept = call.artifact(b"picture", "image/png").uri if title == "Emma" else "vr://artifacts/lost"
    addresses = [kept, "vr://artifacts/gone"]
    return Hits(results=[Hit(title=title, uri=uri) for uri in addresses], next_cursor="2")


@tool(effects=READ_ONLY)
async def shelf_open_book(
    call: Call, url: str | None = None, file_path: str | None = None
) -> Quoted:
    """Open a book."""
    if file_path == "gone":
        raise VrError("There is no such book.", Code.NOT_FOUND)
    if file_path == "busy":
        raise VrError("Somebody reads it.", Code.UNAVAILABLE, retryable=True)
    return Quoted(title=file_path or "", page=1)


@hookimpl
def vr_tools() -> list[Any]:
    return [shelf_read, shelf_quote, shelf_find, shelf_open_book]
