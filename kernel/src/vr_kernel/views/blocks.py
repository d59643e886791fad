"""The blocks of a view: what there is to see, as frozen data, for every way of showing it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from vr_kernel.views.links import NOWHERE, Cell, Link, Quote


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A part of a view, with its heading; of a detail a terminal shows the name, until asked."""

    title: str = ""
    detail: bool = False


@dataclass(frozen=True, slots=True)
class Facts(Block):
    """Names with their values."""

    rows: Sequence[tuple[str, Cell]]


@dataclass(frozen=True, slots=True)
class Prose(Block):
    """Text with lists, emphasis, code and links as in Markdown; `[1]` is the first reference."""

    text: str
    references: Sequence[Quote] = ()


@dataclass(frozen=True, slots=True)
class Table(Block):
    """Things that are alike, one a row; `total` counts them when not all are here."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    total: int = 0


@dataclass(frozen=True, slots=True)
class Image:
    """A picture: an artifact's address or the bytes of a JPEG or PNG, with the words to it."""

    image: str | bytes
    caption: str = ""
    text: str = ""
    place: Link = NOWHERE


@dataclass(frozen=True, slots=True)
class Pictures(Block):
    """Pictures side by side."""

    items: Sequence[Image]


@dataclass(frozen=True, slots=True)
class Code(Block):
    """Text whose signs and line ends stay as they are."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Media(Block):
    """A film or a recording: its web address or path, and its length in seconds.

    It is played from `start` on, in seconds; from its beginning without one.
    """

    source: str
    kind: Literal["video", "audio"] = "video"
    duration: float | None = None
    start: float | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """Something at a time, in seconds; `link` opens it there."""

    start: float
    text: str
    end: float | None = None
    link: str = ""
    quote: Quote | None = None


@dataclass(frozen=True, slots=True)
class Moments(Block):
    """Moments of a film, in order of time: one lane of its timeline."""

    items: Sequence[Moment]


@dataclass(frozen=True, slots=True)
class Line:
    """Words that are said from one second to another; `link` opens them."""

    start: float
    end: float
    text: str
    speaker: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Transcript(Block):
    """Words that are said, in order of time; `language` is a code such as `en`."""

    lines: Sequence[Line]
    language: str = ""


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """A page of a document: its text, its picture, and passages of the text that are marked."""

    number: int
    text: str
    image: str | bytes = ""
    marked: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Pages(Block):
    """Pages of a document."""

    items: Sequence[DocumentPage]


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, how well it stands, and the quotes for and against it."""

    text: str
    tier: str = ""
    quotes: Sequence[Quote] = ()
    against: Sequence[Quote] = ()


@dataclass(frozen=True, slots=True)
class Claims(Block):
    """Claims with their evidence."""

    items: Sequence[Claim]


@dataclass(frozen=True, slots=True)
class Matrix(Block):
    """Claims in rows, sources in columns, and in each cell what the source says of the claim."""

    claims: Sequence[str]
    sources: Sequence[Link]
    cells: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Node:
    """A thing in a graph; `at` is its place in the unit square, where it was laid out."""

    name: str
    group: str = ""
    text: str = ""
    weight: float = 0.0
    quotes: Sequence[Quote] = ()
    at: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation between two nodes, which are named by their numbers, beginning with 0."""

    start: int
    end: int
    label: str = ""
    quotes: Sequence[Quote] = ()


@dataclass(frozen=True, slots=True)
class Graph(Block):
    """Things and their relations; `groups` are those of the nodes, in the order of a legend."""

    nodes: Sequence[Node]
    edges: Sequence[Edge]
    groups: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A step of work: `done` of `total` parts, and its cost in US dollars, where known."""

    name: str
    state: str = ""
    done: float | None = None
    total: float | None = None
    cost_usd: float | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Steps(Block):
    """Steps of work, in order."""

    items: Sequence[Step]


@dataclass(frozen=True, slots=True)
class Item:
    """A thing in a list, with short facts; `vr show` opens it by its id."""

    title: str
    text: str = ""
    place: Link = NOWHERE
    facts: Sequence[Cell] = ()
    id: str = ""


@dataclass(frozen=True, slots=True)
class Records(Block):
    """Things that were found, `total` in all; facets are values of a property with counts."""

    items: Sequence[Item]
    total: int = 0
    facets: Mapping[str, Sequence[tuple[str, int]]] | None = None


@dataclass(frozen=True, slots=True)
class Action(Block):
    """Something to do next: a tool with its arguments; the title says what it does."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class File(Block):
    """A file that was made: an artifact's address or a path, and its size in bytes."""

    link: str
    mime: str = ""
    size: int | None = None
