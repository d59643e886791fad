"""The kinds of records of the content domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vr_kernel import RecordField, RecordKind, entity_key

ANALYSES = "ContentAnalyses"


def analysis_key(of: Mapping[str, Any]) -> str:
    """Return the key of an analysis by an instruction, by a record's fields.

    A text that was pasted has no address, so its digest tells it from others.
    """
    wanted = " ".join(of["instruction"].casefold().split())
    return entity_key(ANALYSES, of["source"], wanted, *filter(None, [of.get("text_sha256")]))


CONTENT_ANALYSES = RecordKind(
    name=ANALYSES,
    description="Analyses of documents, pages, pictures and texts.",
    fields=(
        RecordField("source", description="Source URL, file path, or '(text)'", filterable=True),
        RecordField("text_sha256", description="Digest of a pasted text", filterable=True),
        RecordField(
            "instruction",
            description="Analysis instruction used",
            vectorised=True,
            searchable=True,
        ),
        RecordField("title", description="Content title", vectorised=True, searchable=True),
        RecordField("summary", description="Analysis summary", vectorised=True, searchable=True),
        RecordField(
            "key_points",
            "text[]",
            description="Key points extracted",
            vectorised=True,
            searchable=True,
        ),
        RecordField(
            "entities",
            "text[]",
            description="Named entities found",
            vectorised=True,
            searchable=True,
        ),
        RecordField("raw_result", description="Full JSON result"),
    ),
    rerank="summary",
    source="source",
    identity=analysis_key,
    derived=True,
    history=True,
    category="analysis",
    title="title",
)
