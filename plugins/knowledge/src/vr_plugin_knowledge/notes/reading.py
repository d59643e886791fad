"""Keeps the passages of the user's notes up to date."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from threading import Event

from vr_kernel import Services

from vr_plugin_knowledge.notes.complaint import FAILURES, Complaint
from vr_plugin_knowledge.notes.ledger import Ledger, Seen
from vr_plugin_knowledge.notes.scan import News, find_news, read_notes
from vr_plugin_knowledge.transfer.passages import passage_ids

ORIGIN = "knowledge_notes"
AT_ONCE = 20
WITHIN_S = 1.0
"""Seconds that a search waits for changed notes; reading continues in the background."""
FRESH_S = 2.0
"""Seconds for which the folder is not scanned again."""
OWN_NOTE = "Write what you have to say in a note of its own, and it is found."


class NoteReader:
    """Reads the notes of one folder into passages.

    Args:
        services: of the knowledge plugin.
        root: the folder.
        ledger: what was read of it.
    """

    def __init__(self, services: Services, root: Path, ledger: Ledger) -> None:
        self._services = services
        self._root = root
        self._ledger = ledger
        self.complaint = Complaint(services, "notes were not read")
        self._task: asyncio.Task[Counter[str]] | None = None
        self._fresh_until = 0.0
        self._stop = Event()

    async def refresh(self, within_s: float = WITHIN_S) -> bool:
        """Read what changed; False when that continues in the background."""
        if time.monotonic() < self._fresh_until:
            return True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self.read(), name="vr-notes")
            self._task.add_done_callback(self._look_back)
        await asyncio.wait({self._task}, timeout=within_s)
        return self._task.done()

    async def read(self) -> Counter[str]:
        """Record changed notes, and delete those that are gone; return the number of files."""
        counts: Counter[str] = Counter()
        try:
            news, _ = await self._look()
            if news.changed or news.gone:
                # One process at a time: of two, the one with the older text could come last.
                async with self._services.leases.held(f"knowledge/notes/{self._root}"):
                    news, known = await self._look()
                    await self._forget(news.gone, known)
                    counts["gone"] = len(news.gone)
                    files = iter(news.changed.items())
                    while batch := dict(islice(files, AT_ONCE)):
                        counts += await self._record(batch, known)
            self._fresh_until = time.monotonic() + FRESH_S
            self.complaint.settle()
        except FAILURES as error:
            self.complaint.tell(error)
        return counts

    async def aclose(self) -> None:
        """Stop; the next search goes on."""
        self._stop.set()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _look(self) -> tuple[News, dict[str, Seen]]:
        known = await self._ledger.notes()
        return await asyncio.to_thread(find_news, self._root, known, self._stop), known

    async def _record(
        self, files: Mapping[str, tuple[int, int]], known: Mapping[str, Seen]
    ) -> Counter[str]:
        batch = await asyncio.to_thread(read_notes, self._root, files, known, self._services.kinds)
        archive = self._services.archive
        for path in batch.derived:
            self._services.log.warning(
                "a page of a derived record is no source", page=path, hint=OWN_NOTE
            )
        if batch.records:
            await archive.add(batch.records, origin=ORIGIN)
        if batch.stale:
            await archive.forget(batch.stale, origin=ORIGIN)
        # Last, so that interrupted work is done again.
        await self._ledger.keep(batch.seen)
        read = sum(seen.passages > 0 for _, seen in batch.seen)
        return Counter(
            read=read,
            passages=len(batch.records),
            unread=len(batch.unread),
            derived=len(batch.derived),
        )

    async def _forget(self, gone: Sequence[str], known: Mapping[str, Seen]) -> None:
        paths = {path: known[path].passages for path in gone}
        stale = [each for path, n in paths.items() for each in passage_ids(self._root / path, 0, n)]
        if stale:
            await self._services.archive.forget(stale, origin=ORIGIN)
        if gone:
            await self._ledger.keep([], gone)

    def _look_back(self, task: asyncio.Task[Counter[str]]) -> None:
        if not task.cancelled() and (error := task.exception()):
            self._services.log.error("notes were not read", error=repr(error))
