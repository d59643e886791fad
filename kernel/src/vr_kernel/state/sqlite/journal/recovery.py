"""Recovery of records that only a store still holds, back into the journal."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from vr_kernel.state.sqlite.journal.lineage import Lineage
from vr_kernel.state.sqlite.journal.reading import read_document
from vr_kernel.state.sqlite.journal.schema import PUT
from vr_kernel.stores import StoredRecord

_ENCODER = json.JSONEncoder(ensure_ascii=False)
_ROW = "SELECT seq, fields, created_at FROM record WHERE workspace = ? AND kind = ? AND key = ?"


def recover(
    connection: sqlite3.Connection, workspace: str, records: Sequence[StoredRecord]
) -> list[StoredRecord]:
    """Record what the journal lacks, as the store has it; returns these records.

    What was recorded or deleted here since the loss takes precedence over the store.
    """
    since = Lineage(connection).begun
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    written = []
    for record in records:
        place, fields = (workspace, record.kind, record.key), dict(record.fields)
        if not _is_lacking(connection.execute(_ROW, place).fetchone(), fields, since):
            continue
        said = fields.get("created_at")
        row = (_ENCODER.encode(fields), _ENCODER.encode(dict(record.provenance)))
        connection.execute(PUT, (*place, *row, said if isinstance(said, str) else now))
        written.append(record)
    return written


def _is_lacking(row: tuple[Any, ...] | None, fields: dict[str, Any], since: int) -> bool:
    if row is None:
        return True
    seq, text, created_at = row
    if seq > since:
        return False
    kept = read_document(text)
    return kept is None or {"created_at": created_at, **kept} != fields
