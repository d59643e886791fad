"""Writes pages into the notes folder as records come into the journal."""

from __future__ import annotations

import asyncio
import errno
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from vr_kernel import Change, RecordKind, Services

from vr_plugin_knowledge.notes.complaint import FAILURES, Complaint
from vr_plugin_knowledge.notes.ledger import Ledger
from vr_plugin_knowledge.notes.page import is_for_people, name_page, write_page
from vr_plugin_knowledge.notes.page_folder import PageFolder

PAGES_AT_ONCE = 50
WITHIN_S = 1.5
"""Seconds that a finished call waits for its pages; what is left is written after the next one."""
_OF_ONE_PAGE = {
    errno.EEXIST,
    errno.EINVAL,
    errno.EISDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.ENOTDIR,
}
"""Errors of one page or one kind, not of the folder."""


class Page(NamedTuple):
    """A page: the record that it is of, the name of its file, and its text."""

    kind: str
    key: str
    name: str = ""
    text: str = ""


class PageWriter:
    """Writes the pages of one folder.

    Args:
        services: of the knowledge plugin.
        root: the folder.
        ledger: knows the position in the journal.
    """

    def __init__(self, services: Services, root: Path, ledger: Ledger) -> None:
        self._services = services
        self._root = root
        self._ledger = ledger
        self._turn = asyncio.Lock()
        self.complaint = Complaint(services, "notes were not written")
        self._caught_up = False

    def owes(self, changes: int) -> bool:
        """True when there is something to write after a call that made so many changes."""
        return changes > 0 or not self._caught_up

    async def write(self, within_s: float = WITHIN_S) -> int:
        """Write the pages of all later records; return how many that were."""
        end, done = time.monotonic() + within_s, 0
        async with self._turn:
            self._caught_up = False
            try:
                while not self._caught_up and time.monotonic() < end:
                    count = await self._write_some()
                    self._caught_up = not count
                    done += count
            except FAILURES as error:
                self.complaint.tell(error)
            else:
                self.complaint.settle()
        return done

    async def _write_some(self) -> int:
        journal = self._services.journal
        cursor = await self._ledger.cursor()
        last = await journal.last_seq()
        pages = await read_pages(self._services, cursor, PAGES_AT_ONCE)
        end = pages[-1][0].seq if pages else cursor
        if len(pages) < PAGES_AT_ONCE:  # no page is left up to `last`, which was read before
            end = max(end, last)
        if end > cursor:
            await self._put(cursor, pages, end)
            return len(pages)
        if last == cursor:
            return 0
        # The journal was lost or replaced: existing pages are not written again.
        await self._ledger.move(cursor, 0, _nothing)
        return 1

    async def _put(self, start: int, pages: Sequence[tuple[Change, RecordKind]], end: int) -> None:
        written = [await make_page(self._services, kind, change) for change, kind in pages]

        def put() -> None:
            folder = PageFolder(self._root)
            for page in written:
                try:
                    put_page(folder, page)
                except OSError as error:
                    if error.errno not in _OF_ONE_PAGE:
                        raise
                    self._services.log.warning("a note cannot be written", error=str(error))

        move = self._ledger.move(start, end, lambda: asyncio.to_thread(put))
        await asyncio.shield(asyncio.ensure_future(move))  # a thread cannot be cancelled


async def _nothing() -> None:
    """Write no page."""


async def read_pages(services: Services, after: int, limit: int) -> list[tuple[Change, RecordKind]]:
    """The changes of this workspace after a number that have a page, with their kinds."""
    kinds = {name: kind for name, kind in services.kinds.items() if is_for_people(kind)}
    if not kinds:
        return []
    found = await services.journal.changes(after, limit, kinds, services.workspace)
    return [(change, kinds[change.kind]) for change in found]


async def make_page(services: Services, kind: RecordKind, change: Change) -> Page:
    """The page of a record; without text that of a deleted one."""
    if change.fields is None:
        return Page(kind.name, change.key)
    text = await write_page(services, kind, change)
    return Page(kind.name, change.key, name_page(kind, change), text)


def put_page(folder: PageFolder, page: Page) -> None:
    """Write a page, or remove that of a deleted record.

    Raises:
        OSError: when the folder does not take it.
    """
    if page.text:
        folder.put(page.kind, page.key, page.name, page.text)
    else:
        folder.remove(page.kind, page.key)
