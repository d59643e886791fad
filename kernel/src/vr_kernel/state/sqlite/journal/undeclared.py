"""Records of kinds that no loaded plugin declares: kept, and found again with their plugin."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from vr_kernel.state.journal import Undeclared
from vr_kernel.storage.sound_rows import is_text

_KINDS = """
WITH RECURSIVE found (kind) AS (
    SELECT min(kind) FROM record WHERE workspace = :workspace
    UNION ALL
    SELECT (SELECT min(kind) FROM record WHERE workspace = :workspace AND kind > found.kind)
    FROM found WHERE found.kind IS NOT NULL
)
SELECT kind FROM found WHERE kind IS NOT NULL
"""
# Looks up each kind in the index instead of each record.
_COUNTS = """
SELECT CASE WHEN json_valid(provenance)
            THEN coalesce(json_extract(provenance, '$.plugin'), '') ELSE '' END, count(*)
FROM record
WHERE workspace = ? AND kind = ? AND fields IS NOT NULL GROUP BY 1 ORDER BY 2 DESC
"""


def undeclared(
    connection: sqlite3.Connection, workspace: str, known: Collection[str]
) -> list[Undeclared]:
    """Count the records of a workspace whose kinds are not among the known ones."""
    kinds = [kind for (kind,) in connection.execute(_KINDS, {"workspace": workspace})]
    found = []
    for kind in kinds:
        if kind not in known and is_text(kind):
            rows = connection.execute(_COUNTS, (workspace, kind)).fetchall()
            count = sum(number for _, number in rows)
            found.append(Undeclared(kind, count, tuple(name for name, _ in rows if is_text(name))))
    return [each for each in found if each.count]
