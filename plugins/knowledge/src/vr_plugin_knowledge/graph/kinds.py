"""The collections that belong to the knowledge plugin: concepts, and how they relate."""

from __future__ import annotations

from vr_kernel import RecordField, RecordKind

from vr_plugin_knowledge.graph.identity import CONCEPTS, EDGES, concept_key, edge_key, edge_name

_SOURCE_URL = RecordField(
    "source_url", description="URL or path of source content", filterable=True
)
_CATEGORY = RecordField(
    "source_category", description="video, video-chat, research or analysis", filterable=True
)
_CITATIONS = (
    RecordField("link", description="Opens the first source"),
    RecordField("sources", "text[]", "Records that say so: collection/object_id#version"),
    RecordField("quotes", "text[]", "Their words, one a source"),
    RecordField("links", "text[]", "Links into them, one a source"),
    RecordField("titles", "text[]", "Titles of what they are from, one a source"),
)

CONCEPT_KNOWLEDGE = RecordKind(
    name=CONCEPTS,
    description="Concepts that were found in records, and how well you know them.",
    fields=(
        RecordField(
            "concept_name",
            description="Name of the concept",
            vectorised=True,
            searchable=True,
            filterable=True,
        ),
        RecordField("state", description="know, fuzzy or unknown", filterable=True),
        _SOURCE_URL,
        RecordField(
            "source_title",
            description="Title of the source content",
            vectorised=True,
            searchable=True,
        ),
        _CATEGORY,
        RecordField(
            "description",
            description="Brief description of the concept",
            vectorised=True,
            searchable=True,
        ),
        RecordField("aliases", "text[]", "Other names", vectorised=True, searchable=True),
        *_CITATIONS,
    ),
    rerank="description",
    source="source_url",
    link="link",
    identity=concept_key,
    derived=True,
    title="source_title",
)

RELATIONSHIP_EDGES = RecordKind(
    name=EDGES,
    description="Directed relationships between concepts.",
    fields=(
        RecordField(
            "from_concept",
            description="Source concept name",
            vectorised=True,
            searchable=True,
            filterable=True,
        ),
        RecordField(
            "to_concept",
            description="Target concept name",
            vectorised=True,
            searchable=True,
            filterable=True,
        ),
        RecordField(
            "relationship_type",
            description="enables, example_of, builds_on, contradicts or related_to",
            filterable=True,
        ),
        _SOURCE_URL,
        _CATEGORY,
        *_CITATIONS,
    ),
    rerank="relationship_type",
    source="source_url",
    link="link",
    identity=edge_key,
    derived=True,
    naming=edge_name,
)
