"""Results of the tools of the knowledge graph."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field
from vr_kernel import Usage

Direction = Literal["both", "out", "in"]


class GraphSource(BaseModel):
    """A record that supports an entry, with its words; `link` opens it at `seconds`.

    A `derived` record is what a model wrote; where it names its own source, that is linked.
    """

    collection: str
    object_id: str
    title: str = Field("", exclude_if=lambda value: not value)
    quote: str = ""
    link: str = ""
    seconds: float | None = Field(None, exclude_if=lambda value: value is None)
    derived: bool = Field(default=False, exclude_if=lambda value: not value)


class GraphNode(BaseModel):
    """A concept. `score` says how close it is to what was asked for; all together have 1."""

    concept: str
    object_id: str | None = None
    state: str
    description: str = ""
    score: float
    depth: int
    sources: list[GraphSource] = []


class GraphEdge(BaseModel):
    """A relationship between two concepts of the same result."""

    from_concept: str
    relationship_type: str
    to_concept: str
    object_id: str | None = None
    sources: list[GraphSource] = []


class KnowledgeGraph(BaseModel):
    """Concepts around what was asked for, closest first, and what relates them.

    `total_nodes` and `total_edges` count all within the depth. An export is the file `path`,
    linked as `artifact`.
    """

    nodes: list[GraphNode] = []
    edges: list[GraphEdge] = []
    total_nodes: int
    total_edges: int
    artifact: str | None = None
    path: str | None = None
    notes: list[str] = []


class Unread(BaseModel):
    """A record that could not be read for concepts, and why."""

    collection: str
    object_id: str
    error: str


class KnowledgeExtracted(BaseModel):
    """Counts of records read and concepts found; `dropped` ones had no quote in their record."""

    records_read: int
    already_read: int
    remaining: int
    concepts: int
    new_concepts: int
    relationships: int
    new_relationships: int
    dropped: int
    failed: list[Unread] = []
    usage: Usage | None = None
    notes: list[str] = []


class Neighbour(BaseModel):
    """A concept one relationship away from those of a search's hits, which are named by id."""

    concept: str
    object_id: str | None = None
    from_concept: str
    relationship_type: str
    to_concept: str
    quote: str = ""
    link: str = ""
    hits: list[str] = []
