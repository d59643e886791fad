"""Sources of the records in memory: found anew each time that they are asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from operator import attrgetter
from typing import Any

from vr_kernel import Change, RecordKind, Source, entity_key


class MemorySources:
    """Finds what sources live records are about."""

    def __init__(self, live: Callable[[], Iterable[Change]]) -> None:
        """`live` yields all records that are not deleted."""
        self._live = live
        self._kinds: dict[str, RecordKind] = {}

    def declare(self, kinds: Collection[RecordKind]) -> None:
        """Learn the roles of the fields of these kinds; what is known of others stays."""
        self._kinds |= {kind.name: kind for kind in kinds}

    def of_workspace(self, workspace: str) -> list[Source]:
        """List the sources of a workspace, the last changed first."""
        found = [self._made(*each) for each in self.records(workspace).items()]
        return sorted(found, key=attrgetter("seq"), reverse=True)

    def records(self, workspace: str) -> dict[str, list[Change]]:
        """The records about each source, by its id, rising by number."""
        found: dict[str, list[Change]] = {}
        for change in sorted(self._live(), key=attrgetter("seq")):
            if change.workspace == workspace and (source := self._source(change)):
                found.setdefault(entity_key("source", source), []).append(change)
        return found

    def _made(self, name: str, records: list[Change]) -> Source:
        last, times = records[-1], sorted(map(_made_at, records))
        titles = [title for it in records if (title := self._title(it))]
        return Source(
            id=name,
            source=self._source(last),
            title=titles[-1] if titles else "",
            kinds=dict(sorted(Counter(it.kind for it in records).items())),
            first_at=times[0],
            last_at=times[-1],
            seq=last.seq,
        )

    def _source(self, change: Change) -> str:
        kind = self._kinds.get(change.kind)
        return _text(change, kind.source) if kind else ""

    def _title(self, change: Change) -> str:
        title = _text(change, self._kinds[change.kind].title)
        return title if title.strip() else ""


def _text(change: Change, name: str | None) -> str:
    value: Any = (change.fields or {}).get(name) if name else ""
    return value if isinstance(value, str) else ""


def _made_at(change: Change) -> str:
    return str((change.fields or {}).get("created_at", change.created_at))
