"""Names of kinds, fields, records and vectors in Weaviate."""

from __future__ import annotations

import hashlib
import re
import uuid

from vr_kernel import entity_key

OWN = "vr_"
"""Prefix of all properties that are not fields of a kind."""
WORDS = "vr_words"
"""The stems of all searchable text, the only property for keyword search."""
FACETS = "vr_facets"
"""The values that filters compare, each as `field=value|`."""
RECORD = "vr_record"
"""The record itself as JSON, so that it is read back unchanged."""
STATE = "vr_state"
"""How the object is indexed: the kind's shape and the embedder, or `WAITING`."""
DAY = "vr_day_"
"""Prefix before the name of a date field: its day, to count by."""
WAITING = "waiting"
"""The state of an object whose vector is still to be made."""
OTHERS = "_Workspaces"
"""Suffix of the name of the collection for all workspaces except the adopted one."""

_COLLECTION = re.compile(r"[A-Z][_0-9A-Za-z]{0,199}")
_PROPERTY = re.compile(r"[A-Za-z][_0-9A-Za-z]{0,199}")
_RESERVED = ("id", "vector", "vectors")
# Weaviate names files by a property and these endings (entities/schema/validation.go).
_RESERVED_ENDS = (
    *("_searchable", "_rangeable", "_nullState", "_propertyLength"),
    *("_temp", "_meta_count"),
)


def collection_name(prefix: str, kind: str) -> str:
    """The collection of a kind: its own name where Weaviate allows it."""
    if _COLLECTION.fullmatch(kind):
        return prefix + kind
    return f"{prefix}Vr{_plain(kind)[:40]}_{_digest(kind)}"


def property_name(field: str) -> str:
    """The property of a field: its own name where Weaviate allows it."""
    fits = _PROPERTY.fullmatch(field) and not field.startswith(OWN)
    if fits and field not in _RESERVED and not field.endswith(_RESERVED_ENDS):
        return field
    return f"f_{_plain(field)[:40]}_{_digest(field)}"


def vector_name(embedder: str) -> str:
    """The named vector of an embedder: vectors of two embedders are never compared."""
    return f"{OWN}{_plain(embedder)[:40]}_{_digest(embedder)}".lower()


def object_id(workspace: str, kind: str, key: str) -> str:
    """The UUID of a record's object: the key itself when it is one, else made of all three."""
    try:
        known = str(uuid.UUID(key)) == key
    except ValueError:
        known = False
    return key if known else entity_key(workspace, kind, key)


def _plain(name: str) -> str:
    return re.sub(r"[^0-9A-Za-z]+", "_", name)


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:8]
