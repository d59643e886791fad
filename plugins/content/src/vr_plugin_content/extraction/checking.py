"""Evidence of extracted values: each quote looked up, and values without a found one left out."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from vr_kernel import Document, visible_line

from vr_plugin_content.analyses.evidence import DocumentQuotes
from vr_plugin_content.analyses.prompt import ReadPoint
from vr_plugin_content.extraction.flat_schema import FlatSchema, allows_null
from vr_plugin_content.json_pointers import (
    MISSING,
    leaves_of,
    pointer_of,
    read_pointer,
    value_at,
)
from vr_plugin_content.results.extraction import ContentExtraction, Evidence

FOUND = ("verified", "moved")
RANKS = ("verified", "moved", "unchecked", "not_found")
MOST = 5_000
"""Most values whose evidence is looked up."""
NAMED = 10
"""Most values that a remark names."""
PATH_CHARS = 200
_NOT_OPTIONAL = (
    *("minProperties", "dependentRequired", "dependentSchemas", "anyOf", "oneOf", "allOf"),
    *("not", "if"),
)
"""Keywords by which the absence of a property can matter."""


def evidence_of(
    document: Document, data: Any, told: Sequence[dict[str, Any]], *, unseen: bool
) -> list[Evidence]:
    """Look up what a model gave as evidence, and add the values that it gave none for; blocks.

    Args:
        document: that it read.
        data: that it extracted.
        told: its evidence, each with `path`, `quote` and `place`.
        unseen: a part of the document has no text, so that a quote may stand there.
    """
    quotes = DocumentQuotes(document)
    best: dict[str, Evidence] = {}
    for each in told[:MOST]:
        path = read_pointer(each["path"])
        if value_at(data, path) in (MISSING, None):
            continue
        found = _looked_up(quotes, pointer_of(path), each, unseen=unseen)
        before = best.get(found.path)
        if before is None or RANKS.index(found.status) < RANKS.index(before.status):
            best[found.path] = found
    paths = list(map(pointer_of, leaves_of(data)))[:MOST]
    bare = [path for path in paths if _nearest(best, path) is None]
    return [*best.values(), *(Evidence(path=path, status="unchecked") for path in bare)]


def _looked_up(
    quotes: DocumentQuotes, path: str, told: dict[str, Any], *, unseen: bool
) -> Evidence:
    point = quotes.check(ReadPoint(text=path, quote=told["quote"], place=told["place"]))
    status = point.status or "unchecked"
    return Evidence(
        path=path,
        quote=point.quote,
        place=point.place,
        page=point.page,
        link=point.link,
        status="unchecked" if unseen and status == "not_found" else status,
    )


def without_unfound(extraction: ContentExtraction, schema: dict[str, Any]) -> ContentExtraction:
    """Leave out values whose quote was not found: null, or without the property; blocks.

    A value that the schema demands stays, and a remark names it.
    """
    known = {each.path: each for each in extraction.evidence}
    data, parts = copy.deepcopy(extraction.data), FlatSchema(schema)
    dropped, kept = set(), []
    for path in list(leaves_of(extraction.data)):
        pointer = pointer_of(path)
        found = _nearest(known, pointer)
        if found is not None and found.status in FOUND:
            continue
        if _leave_out(data, path, parts):
            dropped.add(pointer)
        else:
            kept.append(pointer)
    evidence = [each for each in extraction.evidence if each.path not in dropped]
    told = {"data": data, "evidence": evidence, "dropped": len(dropped)}
    return extraction.model_copy(update={**told, "limits": [*extraction.limits, *_demanded(kept)]})


def _leave_out(data: Any, path: list[str], parts: FlatSchema) -> bool:
    """Make the value null, or remove its property; False where the schema demands it."""
    part, around = parts.at(path), parts.at(path[:-1]) if path else None
    holder: Any = value_at(data, path[:-1]) if path else MISSING
    if holder is MISSING or not path:
        return False
    step: Any = int(path[-1]) if isinstance(holder, list) else path[-1]
    if part is not None and allows_null(part) and "const" not in part:
        holder[step] = None
        return True
    if not isinstance(holder, dict) or around is None:
        return False
    if step in (around.get("required") or ()) or any(name in around for name in _NOT_OPTIONAL):
        return False
    del holder[step]
    return True


def _nearest(known: dict[str, Evidence], path: str) -> Evidence | None:
    """The evidence of a value, or of what it is in."""
    while path:
        if path in known:
            return known[path]
        path = path.rpartition("/")[0]
    return known.get("")


def _demanded(kept: Sequence[str]) -> list[str]:
    if not kept:
        return []
    names = ", ".join(visible_line(each or "the whole", PATH_CHARS) for each in kept[:NAMED])
    more = f" and {len(kept) - NAMED} more" if len(kept) > NAMED else ""
    return [f"No quote was found for these, which the schema demands: {names}{more}."]
