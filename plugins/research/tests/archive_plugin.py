"""A plugin that records passages of sources, and what a model wrote of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel
from vr_kernel import WRITES_LOCAL, Call, Record, entity_key, hookimpl, tool

PASSAGES = "DocumentPassages"
FINDINGS = "ResearchFindings"


class Kept(BaseModel):
    """The id of a record."""

    id: str


@tool(effects=WRITES_LOCAL)
async def archive_keep(call: Call, source: str, text: str, page: int = 1) -> Kept:
    """Record a passage."""
    fields = {
        "source": source,
        "sha256": "0" * 64,
        "title": "Kept report",
        "page": page,
        "locator": f"p. {page}",
        "position": page,
        "text": text,
        "link": f"{source}#page={page}",
    }
    key = entity_key(PASSAGES, source, page)
    call.record(Record(PASSAGES, fields, key))
    return Kept(id=key)


@tool(effects=WRITES_LOCAL)
async def archive_note(call: Call, source: str, claim: str, quote: str = "") -> Kept:
    """Record what a model claims of a source, by its words."""
    fields = {
        "topic": claim,
        "scope": "quick",
        "claim": claim,
        "evidence_tier": "CONFIRMED",
        "confidence": 0.9,
        "report_id": "an-earlier-one",
        "source": source,
        "citations_json": json.dumps([{"source": 1, "quote": quote}]) if quote else "",
    }
    key = entity_key(FINDINGS, source, claim)
    call.record(Record(FINDINGS, {name: it for name, it in fields.items() if it}, key))
    return Kept(id=f"{FINDINGS}/{key}")


@hookimpl
def vr_tools() -> list[Callable[..., Any]]:
    """The tools."""
    return [archive_keep, archive_note]
