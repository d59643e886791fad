"""How many records there are, in all and by the value of a field."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from vr_kernel import Code, RecordField, RecordKind, VrError

_TRUTH = {0: "false", 1: "true"}


@dataclass(frozen=True, slots=True)
class Total:
    """The number of records of one kind in one workspace, under the empty name."""

    kind: str
    workspace: str

    def __call__(self, connection: sqlite3.Connection) -> dict[str, int]:
        """Ask the database."""
        row = connection.execute(
            "SELECT total(items) FROM scope WHERE workspace = ? AND kind = ?",
            (self.workspace, self.kind),
        ).fetchone()
        return {"": int(row[0])}


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


def groupable(kind: RecordKind, name: str) -> RecordField:
    """The field of that name, by whose values records can be counted.

    Raises:
        VrError: INVALID_INPUT for an unknown field, or one that is not filterable.
    """
    spec = kind.field(name)
    if spec.filterable:
        return spec
    fields = ", ".join(field.name for field in kind.all_fields if field.filterable)
    raise VrError(
        f"{kind.name} cannot be grouped by {name!r}.",
        Code.INVALID_INPUT,
        hint=f"It can be grouped by: {fields}.",
    )
