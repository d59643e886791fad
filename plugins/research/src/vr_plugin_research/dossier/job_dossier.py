"""A dossier that lives in a job: its steps are committed, its texts are artifacts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from vr_kernel import Call, Document

from vr_plugin_research.dossier.entries import (
    Decision,
    Entry,
    Failure,
    Finding,
    Found,
    Query,
    ReadSource,
)
from vr_plugin_research.evidence.snapshots import MIME, pack, unpack
from vr_plugin_research.results.plan import PlanQuestion

E = TypeVar("E", Query, Found, ReadSource, Finding, Decision, Failure)


class JobDossier:
    """The dossier of one call; see `Dossier`.

    A job that is resumed goes through its stages again and finds every step that was committed, so
    the entries themselves need no keeping.

    Args:
        call: whose steps and artifacts it uses.
        topic: the question of the research.
        context: what the person said besides.
    """

    def __init__(self, call: Call, topic: str, context: str = "") -> None:
        self.topic = topic
        self.context = context
        self.questions: list[PlanQuestion] = []
        self._call = call
        self._entries: dict[type, dict[Any, Entry]] = {}
        self._done: dict[str, Any] = {}

    @property
    def queries(self) -> Sequence[Query]:
        """The searches, in the order in which they were decided."""
        return self._of(Query)

    @property
    def found(self) -> Sequence[Found]:
        """The results of all searches, and the sources that were given."""
        return self._of(Found)

    @property
    def sources(self) -> Sequence[ReadSource]:
        """The sources that were read."""
        return self._of(ReadSource)

    @property
    def findings(self) -> Sequence[Finding]:
        """The findings whose quotes were looked up."""
        return self._of(Finding)

    @property
    def decisions(self) -> Sequence[Decision]:
        """The decisions: kept or left out, and why."""
        return self._of(Decision)

    @property
    def failures(self) -> Sequence[Failure]:
        """The sources that could not be read."""
        return self._of(Failure)

    async def put(self, *entries: Entry) -> None:
        """Add entries; one with the id of an entry of its kind replaces it."""
        for entry in entries:
            self._entries.setdefault(type(entry), {})[entry.id] = entry

    async def once(self, key: str, work: Callable[[], Awaitable[Any]]) -> Any:
        """Return the committed result of work, or do it and commit it."""
        if key not in self._done:
            self._done[key] = await self._call.step(key, work)
        return self._done[key]

    async def keep(self, document: Document) -> str:
        """Keep the text of a source as an artifact, and return its address."""
        content = await asyncio.to_thread(pack, document)
        return (await asyncio.to_thread(self._call.artifact, content, MIME)).uri

    async def document(self, kept: str) -> Document:
        """Return a text that was kept."""
        name = kept.rpartition("/")[2]
        artifact = await asyncio.to_thread(self._call.services.artifacts.find, name)
        return await asyncio.to_thread(lambda: unpack(artifact.path.read_bytes(), name))

    def _of(self, kind: type[E]) -> list[E]:
        entries = self._entries.get(kind, {})
        return [entry for entry in entries.values() if isinstance(entry, kind)]
