"""The files of a batch, read and kept open together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from vr_kernel import Call, Document

from vr_plugin_content.analyses.page_pictures import wanted_pages
from vr_plugin_content.batch.listing import Entry
from vr_plugin_content.batch.parallel import run_together
from vr_plugin_content.batch.shares import tokens_of
from vr_plugin_content.reading.documents import Reading, opened_any, require_text
from vr_plugin_content.results.batch import BatchContentItem
from vr_plugin_content.settings import ContentSettings


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file that was read: its entry, its text, and the tokens of that."""

    entry: Entry
    reading: Reading
    tokens: int

    @property
    def name(self) -> str:
        """The short name that tells it from the others."""
        return self.entry.name

    @property
    def document(self) -> Document:
        """Its text with places."""
        return self.reading.document


OpenedOrFailed = OpenedFile | BatchContentItem


@asynccontextmanager
async def opened_files(call: Call, entries: Sequence[Entry]) -> AsyncIterator[list[OpenedOrFailed]]:
    """Read all files, for a `with` block in which they stay open; a failed one is its item.

    Raises:
        VrError: CONFLICT, category LEASE_LOST.
    """
    settings: ContentSettings = call.settings
    room = asyncio.Semaphore(settings.batch_concurrency + 2 * settings.parsers)
    done = 0
    async with AsyncExitStack() as files:

        async def opened(entry: Entry) -> OpenedOrFailed:
            nonlocal done
            async with room:
                found = await _opened(call, files, entry)
            done += 1
            call.progress(done, len(entries), f"{done} of {len(entries)} read: {entry.name}")
            return found

        yield await run_together(opened(entry) for entry in entries)


@asynccontextmanager
async def opened_apart(call: Call, entry: Entry) -> AsyncIterator[Reading]:
    """Read a file, for a `with` block in which it stays open.

    What was read is committed at once, so that nobody who reads the same file has to wait for the
    end of the block.

    Raises:
        VrError: as `opened_any`; INVALID_INPUT for a name that is not UTF-8.
    """
    entry.check()
    async with AsyncExitStack() as files:
        async with call.part(f"read {entry.place}") as part:
            opening = opened_any(part, entry.place, blank=True)
            reading = await files.enter_async_context(opening)
        yield reading


async def _opened(call: Call, files: AsyncExitStack, entry: Entry) -> OpenedOrFailed:
    try:
        reading = await files.enter_async_context(opened_apart(call, entry))
        if not wanted_pages(reading):
            require_text(reading.document)
        tokens = await asyncio.to_thread(tokens_of, reading.document)
    except Exception as error:  # noqa: BLE001 - one file must not end the others
        return entry.failed(call, error)
    return OpenedFile(entry, reading, tokens)
