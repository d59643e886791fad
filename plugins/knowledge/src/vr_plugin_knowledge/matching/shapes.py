"""Names for the ways in which kinds of records are indexed."""

from __future__ import annotations

import hashlib
import json

from vr_kernel import RecordKind

UNKNOWN = ""
"""The shape of an item whose kind no plugin of the writing process declared."""


def shape_of(kind: RecordKind) -> str:
    """A name for how a kind is indexed; another set of fields or flags gives another."""
    flags = [
        (f.name, f.type, f.vectorised, f.searchable, f.filterable, f.range) for f in kind.all_fields
    ]
    text = json.dumps(flags, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
