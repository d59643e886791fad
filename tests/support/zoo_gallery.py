"""A plugin of the zoo whose results have every kind of block, long lists and hostile texts."""

import base64
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field
from vr_kernel import (
    READ_ONLY,
    WRITES_LOCAL,
    Call,
    Record,
    RecordField,
    RecordKind,
    VrError,
    hookimpl,
    tool,
)
from vr_kernel import (
    Code as ErrorCode,
)
from vr_kernel.views import (
    Action,
    Claim,
    Claims,
    Code,
    Compare,
    DocumentPage,
    Edge,
    Facts,
    File,
    Graph,
    Image,
    Item,
    Line,
    Link,
    Matrix,
    Media,
    Moment,
    Moments,
    Node,
    Pages,
    Pictures,
    Prose,
    Quote,
    Records,
    Step,
    Steps,
    Table,
    Transcript,
    View,
    view,
)

WEB = "https://example.org/talk"
DIGEST = "0123456789abcdef" * 4
WORDS = "Wide words 世界 and narrow ones run on, until the line is full, and then a little further."


class Shown(BaseModel):
    """The text that was given."""

    text: str
    calls: int = 0
    file_uri: str = ""


class Plain(BaseModel):
    """A result that no view describes."""

    title: str
    summary: str
    digest: str
    created_at: str
    picture_uri: str
    rows: list[dict[str, Any]]
    seldom: str | None = Field(None, exclude_if=lambda value: value is None)


@tool(effects=READ_ONLY)
async def gallery_all(call: Call, text: str = WORDS) -> Shown:
    """Show every kind of block."""
    return Shown(text=text)


@tool(effects=READ_ONLY)
async def gallery_hostile(call: Call, text: str) -> Shown:
    """Show a text, given in Base64, in every place of every block."""
    return Shown(text=base64.b64decode(text).decode("utf-8", "surrogatepass"))


@tool(effects=WRITES_LOCAL)
async def gallery_plain(call: Call) -> Plain:
    """Return a result that no view describes."""
    picture = call.artifact(b"\xff\xd8\xff and so on", "image/jpeg")
    return Plain(
        title="Plain things",
        summary=WORDS * 20,
        digest=DIGEST,
        created_at="2026-11-25T22:55:30.123456+00:00",
        picture_uri=picture.uri,
        rows=[
            {"name": f"thing {n}", "size": n / 7, "digest": DIGEST, "note": WORDS}
            for n in range(30)
        ],
    )


class Document(Shown):
    """A page of a document."""

    next_cursor: str | None = None


@tool(effects=READ_ONLY, printed=("text",))
async def gallery_document(
    call: Call,
    format: Literal["srt", "text", "json", "segments", "mermaid", "html"] = "srt",  # noqa: A002 - the name that commands know
    cursor: str = "",
) -> Document:
    """Return a document that programs read; for `html` there is none, for `mermaid` a file."""
    if format == "text":
        return Document(text="Hello\n", calls=7, next_cursor=cursor or None)
    if format == "json":
        return Document(text='["Hello"]\n')
    if format == "mermaid":
        return Document(text="", file_uri=call.artifact(b"graph LR\n", "text/vnd.mermaid").uri)
    if format == "html":
        return Document(text="", next_cursor=cursor or None)
    return Document(text="1\n00:00:01,000 --> 00:00:02,000\nHello\n")


@tool(effects=READ_ONLY, printed=("text",))
async def gallery_page(call: Call) -> Document:
    """Return a page of a document that no view describes."""
    return Document(text="One\n", calls=7, next_cursor="two")


@tool(effects=READ_ONLY)
async def gallery_fail(call: Call) -> Shown:
    """Return a result whose view fails."""
    return Shown(text="shown all the same")


def _counted(calls: Path) -> int:
    calls.write_text((calls.read_text("utf-8") if calls.exists() else "") + "x", "utf-8")
    return len(calls.read_text("utf-8"))


@tool(effects=WRITES_LOCAL)
async def gallery_make(
    call: Call,
    format: Literal["gif", "mp3"] = "mp3",  # noqa: A002 - the name that commands know
) -> Shown:
    """Make a file, and count the calls in a file beside."""
    count = _counted(Path("calls"))
    mime = {"gif": "image/gif", "mp3": "audio/mpeg"}[format]
    made = call.artifact(format.encode() * 9, mime)
    return Shown(text="made", calls=count, file_uri=made.uri)


class Written(BaseModel):
    """A file, always."""

    uri: str


@tool(effects=READ_ONLY)
async def gallery_write(
    call: Call,
    format: Literal["gif", "json"] = "gif",  # noqa: A002 - the name that commands know
) -> Written:
    """Make a file of one of two kinds, and nothing else."""
    mime = {"gif": "image/gif", "json": "application/json"}[format]
    return Written(uri=call.artifact(b'{"made": "whole"}', mime).uri)


@tool(effects=WRITES_LOCAL, long=True)
async def gallery_note(call: Call, about: str, text: str, title: str = "") -> Shown:
    """Record a note about a source, or make a recording of it."""
    if text == "fail":
        raise VrError("It did not work.", ErrorCode.NOT_FOUND)
    if text == "a recording":
        return Shown(text=text, file_uri=call.artifact(text.encode(), "audio/mpeg").uri)
    call.record(Record("GalleryNotes", {"source": about, "title": title, "text": text}))
    return Shown(text=text)


@tool(effects=WRITES_LOCAL)
async def gallery_meet(call: Call, name: str) -> Shown:
    """Record a guest, who is about no source."""
    call.record(Record("GalleryGuests", {"name": name}))
    return Shown(text=name)


NOTES = RecordKind(
    "GalleryNotes",
    "Notes about sources.",
    tuple(RecordField(name) for name in ("text", "title", "source")),
    rerank="text",
    source="source",
    title="title",
)
GUESTS = RecordKind("GalleryGuests", "Guests.", (RecordField("name"),), rerank="name")


@view(kind="GalleryGuests")
async def show_guests(services, records):
    """The names of guests."""
    return View("Guests", [Table(["Name"], [[it.fields["name"]] for it in records])])


@view(tool="gallery_all")
async def all_blocks(services: Any, shown: Shown) -> View:
    return gallery(shown.text)


@view(tool="gallery_hostile")
async def hostile(services: Any, shown: Shown) -> View:
    return gallery(shown.text)


@view(tool="gallery_document")
async def document(services: Any, shown: Document) -> View:
    lines = [Line(1, 2, "Hello", "Anna"), Line(2, 3, "again", "Anna")]
    notes = [f"The cursor {shown.next_cursor} goes on."] if shown.next_cursor else []
    return View("A document", [Transcript(lines)], ["one word", "by hand"], notes=notes)


@view(tool="gallery_fail")
async def failing(services: Any, shown: Shown) -> View:
    raise RuntimeError("no")


def gallery(text: str) -> View:
    """A view with all blocks, and that text in all of them."""
    place = Link(WEB, text, 93.5, 95)
    quotes = [Quote(text, place, "verified"), Quote(text, place, "not_found", text)]
    return View(
        text,
        [
            Prose(
                f"{text}\n\n- {text}\n- **{text}** [1]\n\n> {text}\n\n{text} " * 9,
                quotes,
                title="Words",
            ),
            Moments(
                [Moment(n * 61.0, text, n * 61.0 + 5, WEB, quotes[n % 2]) for n in range(30)],
                title="Key points",
            ),
            Facts([(f"Fact {text}", text), ("Place", place), ("Digest", DIGEST), ("Count", 3)]),
            Table(
                ["Name", text, "Size", "Link"],
                [[text, text, n / 3, WEB] for n in range(40)],
                50,
                title="Table",
            ),
            Pictures([Image("vr://artifacts/gone.jpg", text, text, place)] * 12, title="Slides"),
            Code(f"def f():\n    {text}\n" * 20, "python", title="Code"),
            Media(WEB, duration=93.0),
            Transcript(
                [Line(n * 3.0, n * 3.0 + 1, text, text) for n in range(43)],
                detail=True,
                title="Transcript",
            ),
            Pages(
                [DocumentPage(n, f"{text} and {text}", "", [text]) for n in range(5)], title="Pages"
            ),
            Claims([Claim(text, text, quotes, quotes)] * 3, title="Claims"),
            Matrix([text, text], [place, place], [[text, "no"], ["yes", text]], title="Matrix"),
            Graph(
                [Node(text, text, text, 1.0, quotes), Node("B")],
                [Edge(0, 1, text, quotes)],
                title="Graph",
            ),
            Steps([Step(text, "done", 1, 2, 0.5, text), Step("next", text)], title="Steps"),
            Records(
                [Item(text, text * 5, place, [text], f"Kind/{text}")] * 4,
                9,
                {text: [(text, 3)]},
                title="Hits",
            ),
            Compare(View(text, [Prose(text)]), View("right", [Facts([("a", text)])]), title="Both"),
            Action("video_analyze", {"url": text}, title="Next"),
            File("vr://artifacts/gone.mp4", "video/mp4", 38_200_000, title="Clip"),
        ],
        [text, "2026-11-25"],
        WEB,
        [text],
    )


@hookimpl
def vr_tools():
    return [
        gallery_all,
        gallery_hostile,
        gallery_plain,
        gallery_document,
        gallery_page,
        gallery_fail,
        gallery_make,
        gallery_write,
        gallery_note,
        gallery_meet,
    ]


@hookimpl
def vr_record_kinds():
    return [NOTES, GUESTS]


@hookimpl
def vr_views():
    return [all_blocks, hostile, document, failing, show_guests]
