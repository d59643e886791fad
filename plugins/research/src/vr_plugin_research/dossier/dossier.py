"""The dossier of a piece of research: all that was gathered, wherever it is kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from vr_kernel import Document

from vr_plugin_research.dossier.entries import (
    Decision,
    Entry,
    Failure,
    Finding,
    Found,
    Query,
    ReadSource,
)
from vr_plugin_research.results.plan import PlanQuestion


class Dossier(Protocol):
    """All that a piece of research has gathered so far.

    The stages read it and put entries into it; none of them knows where it lives: in the steps of a
    job, or in the files of a folder.
    """

    topic: str
    context: str
    questions: list[PlanQuestion]

    @property
    def queries(self) -> Sequence[Query]:
        """The searches, in the order in which they were decided."""

    @property
    def found(self) -> Sequence[Found]:
        """The results of all searches, and the sources that were given."""

    @property
    def sources(self) -> Sequence[ReadSource]:
        """The sources that were read."""

    @property
    def findings(self) -> Sequence[Finding]:
        """The findings whose quotes were looked up."""

    @property
    def decisions(self) -> Sequence[Decision]:
        """The decisions: kept or left out, and why."""

    @property
    def failures(self) -> Sequence[Failure]:
        """The sources that could not be read."""

    async def put(self, *entries: Entry) -> None:
        """Add entries; one with the id of an entry of its kind replaces it."""

    async def once(self, key: str, work: Callable[[], Awaitable[Any]]) -> Any:
        """Return the result of work, a JSON value; work that was done before is not done again."""

    async def keep(self, document: Document) -> str:
        """Keep the text of a source as it was read, and return where."""

    async def document(self, kept: str) -> Document:
        """Return a text that was kept.

        Raises:
            VrError: NOT_FOUND when it is gone; UNSUPPORTED when it cannot be read.
        """
