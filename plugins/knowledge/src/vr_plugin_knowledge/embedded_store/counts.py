"""Counts of records, in all and by the value of a field."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from vr_kernel import RecordField

from vr_plugin_knowledge.embedded_store.schema import DamagedRowError, require_sound_scopes

_TRUTH = {0: "false", 1: "true"}


@dataclass(frozen=True, slots=True)
class Total:
    """The number of records of one kind in one workspace, under the empty name."""

    kind: str
    workspace: str

    def __call__(self, connection: sqlite3.Connection) -> dict[str, int]:
        """Count the rows, and compare the count with the stored one.

        Raises:
            DamagedRowError: when they differ, which only damage of the file can cause.
        """
        require_sound_scopes(connection)
        row = connection.execute(
            "SELECT s.id, s.items FROM scope s WHERE s.workspace = ? AND s.kind = ?",
            (self.workspace, self.kind),
        ).fetchone()
        if row is None:
            return {"": 0}
        scope, kept = row
        query = "SELECT count(*) FROM item WHERE scope = ?"
        (count,) = connection.execute(query, (scope,)).fetchone()
        if count != kept:
            raise DamagedRowError(f"{count} of {kept} records are there")
        return {"": count}


@dataclass(frozen=True, slots=True)
class Groups:
    """Records of one kind by the value of a field, largest group first.

    A date counts by its day, a list by each of its elements.
    """

    kind: str
    workspace: str
    field: RecordField

    def __call__(self, connection: sqlite3.Connection) -> dict[str, int]:
        """Ask the database."""
        value = "substr(f.value, 1, 10)" if self.field.type == "date" else "f.value"
        rows = connection.execute(
            f"SELECT {value}, count(*) FROM scope s JOIN facet f ON f.scope = s.id"  # noqa: S608 - constant text
            " WHERE s.workspace = ? AND s.kind = ? AND f.field = ?"
            " GROUP BY 1 ORDER BY 2 DESC, 1",
            (self.workspace, self.kind, self.field.name),
        )
        names = _TRUTH if self.field.type == "bool" else {}
        return {names.get(value, str(value)): count for value, count in rows}
