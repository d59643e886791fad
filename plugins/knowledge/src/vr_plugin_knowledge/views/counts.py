"""Counts of the store, and the fields of its collections."""

from __future__ import annotations

import json

from vr_kernel import Services
from vr_kernel.views import Block, Code, Facts, Prose, Table, View, view

from vr_plugin_knowledge.results import CollectionSchema, KnowledgeSchema, KnowledgeStats


@view(tool="knowledge_stats")
async def show_stats(services: Services, stats: KnowledgeStats) -> View:
    """The collections that hold something, then how far the store is."""
    del services
    filled = sorted((it for it in stats.collections if it.count), key=lambda it: -it.count)
    blocks: list[Block] = []
    if filled:
        blocks.append(
            Table(("Collection", "Records"), [(it.collection, it.count) for it in filled])
        )
    else:
        blocks.append(Prose("Nothing is recorded yet."))
    for each in filled:
        if each.groups:
            rows = [(name or "(none)", count) for name, count in each.groups.items()]
            blocks.append(Table(("Value", "Records"), rows, title=each.collection))
    late = {
        "Not indexed yet": stats.pending,
        "Waiting for vectors": stats.pending_vectors,
        "Refused by the store": stats.refused,
    }
    if any(late.values()):
        blocks.append(Facts([(name, count) for name, count in late.items() if count]))
    if empty := [it.collection for it in stats.collections if not it.count]:
        blocks.append(Prose(", ".join(empty), title="Collections without records", detail=True))
    if stats.kept:
        kept = "\n".join(f"- {each}" for each in stats.kept)
        blocks.append(Prose(kept, title="Kept, but not found while their plugin is not installed"))
    total = f"{stats.total:,} {'record' if stats.total == 1 else 'records'}"
    about = [total, f"store {stats.backend}", stats.embedder or "no embedder: keywords only"]
    return View("Knowledge base", blocks, about, notes=stats.notes)


@view(tool="knowledge_schema")
async def show_schema(services: Services, schema: KnowledgeSchema) -> View:
    """One collection with its fields and an example, or all of them by name."""
    del services
    if len(schema.collections) == 1:
        return _one(schema.collections[0], schema.notes)
    rows = [(it.collection, _described(it)) for it in schema.collections]
    blocks: list[Block] = [Table(("Collection", "What it holds"), rows)] if rows else []
    for each in schema.collections:
        if each.fields:
            fields = [(it.name, it.type, ", ".join(it.flags)) for it in each.fields]
            columns = ("Field", "Type", "Found by")
            blocks.append(Table(columns, fields, title=each.collection, detail=True))
    return View("Collections", blocks, notes=schema.notes)


def _one(of: CollectionSchema, notes: list[str]) -> View:
    rows = [(it.name, it.type, ", ".join(it.flags), it.description) for it in of.fields]
    blocks: list[Block] = [Table(("Field", "Type", "Found by", "Description"), rows)]
    if of.example:
        text = json.dumps(of.example, ensure_ascii=False, indent=2)
        blocks.append(Code(text, "json", title="Example for knowledge_ingest"))
    return View(of.collection, blocks, [_described(of)], notes=notes)


def _described(of: CollectionSchema) -> str:
    return f"{of.description} Written by models." if of.derived else of.description
