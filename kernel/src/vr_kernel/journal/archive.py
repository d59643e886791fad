"""Everything recorded, for programs that import, export or reindex it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence

from vr_kernel.errors import Code, VrError, did_you_mean
from vr_kernel.journal.store_follower import StoreFollower
from vr_kernel.records import Change, Record, RecordKind
from vr_kernel.state.entries import Entry
from vr_kernel.state.journal import JournalTable, Position
from vr_kernel.stores import StoredRecord

PAGE = 500


class Archive:
    """The records of one workspace, without a tool. Stores follow as they do after a call."""

    def __init__(
        self,
        journal: JournalTable,
        kinds: Mapping[str, RecordKind],
        store: StoreFollower,
        workspace: str,
    ) -> None:
        self._journal = journal
        self._kinds = kinds
        self._store = store
        self._workspace = workspace

    @property
    def kinds(self) -> Mapping[str, RecordKind]:
        """The kinds of all plugins by name."""
        return self._kinds

    @property
    def store(self) -> StoreFollower:
        """The store that follows the journal."""
        return self._store

    async def add(self, records: Sequence[Record], *, origin: str) -> None:
        """Record entries that no tool produced, all or nothing; `origin` is their `source_tool`.

        A record replaces the one with its key, so adding it again changes nothing.

        Raises:
            VrError: INVALID_INPUT for a record without a key, of an unknown kind, or with
                fields that do not fit it; UNAVAILABLE when the journal cannot be written.
        """
        entries = [self._entry(record, origin) for record in records]
        seq = await self._journal.commit(
            entries, workspace=self._workspace, provenance={"tool": origin}
        )
        self._store.wake(seq)

    async def recover(self, workspace: str, records: Sequence[StoredRecord]) -> list[StoredRecord]:
        """Record unchanged what a store holds and the journal lacks; returns these records.

        Records written here since the loss take precedence.

        Raises:
            VrError: UNAVAILABLE when the journal cannot be written.
        """
        return await self._journal.recover(workspace, records)

    async def forget(self, records: Collection[tuple[str, str]], *, origin: str) -> None:
        """Delete records, by kind and key, in the journal and in every store; all or nothing.

        Raises:
            VrError: UNAVAILABLE when the journal cannot be written.
        """
        entries = [Entry(kind, key, None) for kind, key in records]
        seq = await self._journal.commit(
            entries, workspace=self._workspace, provenance={"tool": origin}
        )
        self._store.wake(seq)

    async def records(
        self, kinds: Collection[str] = (), workspace: str = ""
    ) -> AsyncIterator[Change]:
        """The live records of some kinds, or of all, in the order of their last change.

        `workspace` selects another one than the archive's own.
        """
        after, place = 0, workspace or self._workspace
        while changes := await self._journal.changes(after, PAGE, kinds, place):
            after = changes[-1].seq
            for change in changes:
                if change.fields is not None:
                    yield change

    async def elsewhere(self, kinds: Collection[str] = (), workspace: str = "") -> dict[str, int]:
        """Count the live records of each other workspace, of some kinds or of all."""
        return await self._journal.elsewhere(workspace or self._workspace, kinds)

    async def missing(self, held: Sequence[Position]) -> int:
        """Count the changes that were recorded once but are in neither the journal nor the store.

        Args:
            held: the store's position in each journal that it followed.
        """
        return await self._journal.continuity.missing(held)

    async def resend(self, kinds: Collection[str] = ()) -> int:
        """Have the store index records again, of some kinds or of all; returns how many.

        Raises:
            VrError: UNAVAILABLE, category JOURNAL_INCOMPLETE, while the journal lacks what the
                store has.
        """
        if self._store.available():
            await self._store.status()
        if (refused := self._journal.continuity.refusal) is not None:
            raise refused
        found = [(each.workspace, each.kind, each.key) async for each in self.records(kinds)]
        for start in range(0, len(found), PAGE):
            await self._journal.touch(found[start : start + PAGE])
        self._store.wake(await self._journal.last_seq())
        return len(found)

    def _entry(self, record: Record, origin: str) -> Entry:
        kind = self._kinds.get(record.kind)
        if kind is None:
            raise VrError(
                f"There is no collection {record.kind!r}.",
                Code.INVALID_INPUT,
                hint=f"{did_you_mean(record.kind, self._kinds)}"
                f"Collections: {', '.join(sorted(self._kinds))}.",
            )
        fields = kind.validate(record.fields)
        own = kind.identify(fields)
        key = own if own and kind.history else record.key or own
        if not key:
            raise VrError(f"A record of {kind.name} has no key.", Code.INVALID_INPUT)
        fields.setdefault("source_tool", origin)
        return Entry(kind.name, key, fields, record.provenance, history=kind.history)
