"""Passages of documents: the kind that every plugin which reads documents records."""

from __future__ import annotations

from vr_kernel.records import RecordField, RecordKind

DOCUMENT_PASSAGES = RecordKind(
    name="DocumentPassages",
    description="Passages of documents, with the place where each stands.",
    fields=(
        RecordField("source", "text", "Address or path of the document.", filterable=True),
        RecordField("sha256", "text", "Digest of the document in hexadecimal.", filterable=True),
        RecordField("title", "text", "Of the document.", vectorised=True, searchable=True),
        RecordField("locator", "text", "Page, heading or lines of the passage."),
        RecordField("text", "text", "The passage.", vectorised=True, searchable=True),
        RecordField("external_id", "text", "Its id in a foreign collection.", filterable=True),
    ),
    rerank="text",
    source="source",
    locator=("locator",),
)
