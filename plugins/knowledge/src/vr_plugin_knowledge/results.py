"""Results of the knowledge tools."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field
from vr_kernel import Usage

from vr_plugin_knowledge.derived import DerivedSource
from vr_plugin_knowledge.graph.results import Neighbour

ConflictKind = Literal["number", "date", "scope"]
"""As `vr_kernel.ConflictKind`, which a server need not import to list its tools."""


class KnowledgeHit(BaseModel):
    """One record that a search found.

    A `derived` one comes from a model: not evidence, but made from the `sources` that it names.
    """

    collection: str
    object_id: str
    score: float
    rerank_score: float | None = None
    summary: str | None = None
    properties: dict[str, Any]
    locator: dict[str, Any] | None = None
    link: str | None = None
    source: str | None = None
    derived: bool = Field(default=False, exclude_if=lambda value: not value)
    sources: list[DerivedSource] = Field([], exclude_if=lambda value: not value)


class KnowledgeSearchResult(BaseModel):
    """One page of hits, best first.

    `total_results` counts those of all pages, which are at most `limit` of each collection.
    `embedder` compared meanings, `reranker` ordered the hits; neither is there where it did not.
    """

    query: str
    total_results: int
    results: list[KnowledgeHit]
    filters_applied: dict[str, str] | None = None
    reranked: bool = False
    embedder: str | None = Field(None, exclude_if=lambda value: not value)
    reranker: str | None = Field(None, exclude_if=lambda value: not value)
    flash_processed: bool = False
    neighbours: list[Neighbour] | None = None
    pending: int = 0
    notes: list[str] = []
    next_cursor: str | None = None
    usage: Usage | None = Field(None, exclude_if=lambda value: value is None)


class KnowledgeObject(BaseModel):
    """A whole record; `full` links to the rest of one that is too long to return.

    A `derived` one comes from a model, and is not evidence. Of `versions`, 0 is the present
    one.
    """

    found: bool
    collection: str
    object_id: str
    properties: dict[str, Any] = {}
    locator: dict[str, Any] | None = None
    link: str | None = None
    source: str | None = None
    derived: bool = Field(default=False, exclude_if=lambda value: not value)
    provenance: dict[str, Any] = {}
    version: int = Field(0, exclude_if=lambda value: not value)
    versions: int = Field(1, exclude_if=lambda value: value == 1)
    full: str | None = None
    notes: list[str] = []


class CollectionCount(BaseModel):
    """The number of records in a collection; `groups` counts by value."""

    collection: str
    count: int
    groups: dict[str, int] | None = None


class KnowledgeStats(BaseModel):
    """Counts of records in the store, and of changes that are not delivered yet.

    `kept` names records in the journal that are not found while their plugin is not installed.
    """

    collections: list[CollectionCount]
    kept: list[str] = Field([], exclude_if=lambda value: not value)
    total: int
    pending: int
    pending_vectors: int
    refused: int
    backend: str
    embedder: str
    notes: list[str] = []


class KnowledgeIngested(BaseModel):
    """Records that were made, in the order given; sources, or `derived` and not evidence."""

    status: Literal["recorded"]
    collection: str
    derived: bool
    object_ids: list[str]


class FieldSchema(BaseModel):
    """A field, its type, and how it is indexed."""

    name: str
    type: str
    flags: list[str]
    description: str = ""


class CollectionSchema(BaseModel):
    """A collection's fields, and an object to copy; `derived` is what models wrote."""

    collection: str
    derived: bool = Field(default=False, exclude_if=lambda value: not value)
    description: str
    fields: list[FieldSchema]
    example: dict[str, Any] | None = None


class KnowledgeSchema(BaseModel):
    """Collections of all installed plugins."""

    collections: list[CollectionSchema]
    notes: list[str] = []


class KnowledgeRelated(BaseModel):
    """Records nearest in meaning to one record, nearest first, without itself."""

    collection: str
    object_id: str
    total_results: int
    results: list[KnowledgeHit]
    pending: int = 0
    notes: list[str] = []


class ConflictingClaim(BaseModel):
    """A claim as a record has it, and where it stands; `link` opens it there."""

    collection: str
    object_id: str
    text: str
    source: str | None = Field(None, exclude_if=lambda value: value is None)
    link: str | None = Field(None, exclude_if=lambda value: value is None)
    locator: dict[str, Any] | None = Field(None, exclude_if=lambda value: value is None)
    created_at: str
    evidence_tier: str | None = Field(None, exclude_if=lambda value: value is None)


class KnowledgeConflict(BaseModel):
    """Two claims that cannot both hold; `a` has the higher tier of evidence, or is newer."""

    kind: ConflictKind
    explanation: str
    a: ConflictingClaim
    b: ConflictingClaim


class KnowledgeConflicts(BaseModel):
    """Claims that contradict each other by their words, the best founded first.

    `compared` counts claims, equal ones once.
    """

    conflicts: list[KnowledgeConflict]
    compared: int
    notes: list[str] = []


class ForgottenRecord(BaseModel):
    """A record that is to be deleted, or was."""

    collection: str
    object_id: str
    created_at: str
    source: str | None = None
    title: str = ""


class KnowledgeForgotten(BaseModel):
    """Records that were deleted, or would be.

    `count` is of this call; `remaining` also fit, and are more than one call deletes.
    """

    status: Literal["deleted", "dry_run", "not_confirmed", "nothing_found"]
    count: int
    collections: list[CollectionCount] = []
    examples: list[ForgottenRecord] = []
    remaining: int = 0
    not_found: list[str] = []
    notes: list[str] = []
