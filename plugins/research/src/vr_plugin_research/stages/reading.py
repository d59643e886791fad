"""`read`: loads sources, keeps their texts, and has an analyst report what they say."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from vr_kernel import Call, Code, Document, Locator, Segment, VrError

from vr_plugin_research.dossier.dossier import Dossier
from vr_plugin_research.dossier.entries import (
    Decision,
    Failure,
    Found,
    RawFinding,
    ReadSource,
)
from vr_plugin_research.evidence.origins import origin_of
from vr_plugin_research.gathering.addresses import is_address, kind_of, name_of
from vr_plugin_research.gathering.loading import (
    clean,
    load,
    load_recorded,
    source_kind,
    wording_of,
)
from vr_plugin_research.results.sources import ReportSource, SourceFailure, SourceQuality
from vr_plugin_research.stages.together import each_of


class Reader(Protocol):
    """Reports what a source says."""

    async def read(self, dossier: Dossier, document: Document) -> list[RawFinding]:
        """Report what it says about the questions, with its words."""


Report = Callable[[int, int, str], None]
Enough = Callable[[], Awaitable[bool]]
ABSTRACT_CHARS = 200
MOST_AUTHORS = 50
"""Characters from which an abstract says something."""
MOST_HEADINGS = 200


class Reading:
    """Reads the chosen sources of one round.

    Args:
        call: that reads and pays.
        dossier: that takes what was read.
        reader: reports what each says.
        texts: given texts by their address.
        enough: tells before each source that no more is to be read.
    """

    def __init__(
        self,
        call: Call,
        dossier: Dossier,
        reader: Reader,
        texts: Mapping[str, str],
        enough: Enough,
    ) -> None:
        self._call = call
        self._dossier = dossier
        self._reader = reader
        self._texts = texts
        self._enough = enough
        self._done = 0
        self.refused: VrError | None = None

    async def read(
        self, chosen: Sequence[Found], number: int, at_once: int, report: Report
    ) -> list[ReadSource]:
        """Read sources; what cannot be read is a failure in the dossier, and ends nothing.

        Once a budget is used up, nothing more is read, and `refused` says why.

        Raises:
            VrError: CONFLICT, category LEASE_LOST.
        """
        self._done = 0
        work = partial(self._one, number=number, total=len(chosen), report=report)
        results = await each_of(chosen, at_once, work)
        return await self._put(chosen, results)

    async def headings(self, given: Sequence[Found], at_once: int) -> list[str]:
        """The headings of sources, as far as they can be read; none is loaded again for reading."""

        async def one(found: Found) -> list[str]:
            try:
                return list((await self._loaded(found))["headings"])
            except VrError as error:  # the reading itself tells why
                if error.category == "LEASE_LOST":
                    raise
                return []

        return [heading for each in await each_of(given, at_once, one) for heading in each]

    async def _one(
        self, found: Found, *, number: int, total: int, report: Report
    ) -> ReadSource | SourceFailure | None:
        """Read one source; None when the budget is kept for the report."""
        if self.refused is not None or await self._enough():
            return None
        try:
            loaded = await self._loaded(found)
            document = await self._dossier.document(loaded["snapshot"])
            reported = await self._reader.read(self._dossier, document)
        except VrError as error:
            if error.category == "LEASE_LOST":
                raise
            if error.code is Code.BUDGET:
                self.refused = error
                return None
            return failure_of(found.address, error)
        finally:
            self._done += 1
            report(self._done, total, found.title or name_of(found.address))
        return _read(found, number, loaded, reported)

    async def _loaded(self, found: Found) -> dict[str, Any]:
        """The facts of a source whose text was kept; committed, so it is loaded once."""

        async def work() -> dict[str, Any]:
            document = await self._document(found)
            named = kind_of(found.address, self._call.services)
            kind = found.kind if found.kind in ("paper", "record") else source_kind(document, named)
            return {
                "title": document.title or found.title,
                "source": document.source,
                "mime": document.mime,
                "kind": kind,
                "sha256": document.sha256,
                "wording": await asyncio.to_thread(wording_of, document),
                "limits": list(document.limits)[:5],
                "headings": [each.text[:300] for each in document.outline][:MOST_HEADINGS],
                "snapshot": await self._dossier.keep(document),
            }

        loaded: dict[str, Any] = await self._dossier.once(f"load/{found.address}", work)
        return loaded

    async def _document(self, found: Found) -> Document:
        if found.kind == "paper":
            return await self._paper(found)
        if found.kind != "record":
            return await load(self._call, found.address, self._texts)
        try:
            return await load_recorded(self._call, found.address)
        except VrError:
            return await load(self._call, found.address, self._texts)

    async def _paper(self, found: Found) -> Document:
        """The paper itself; its abstract where that cannot be read."""
        try:
            return await load(self._call, found.address, self._texts)
        except VrError as error:
            if len(found.snippet) < ABSTRACT_CHARS:
                raise
            limit = f"Only its abstract was read. {error.message}"
            digest = hashlib.sha256(found.snippet.encode(errors="backslashreplace")).hexdigest()
            place = Locator(heading=("Abstract",))
            segments = [Segment(found.snippet, place, found.address)]
            return clean(
                Document(found.address, found.title, "text/plain", digest, segments, (limit,))
            )

    async def _put(
        self, chosen: Sequence[Found], results: Sequence[ReadSource | SourceFailure | None]
    ) -> list[ReadSource]:
        """Number what was read in the order of choice; an equal text counts once."""
        known = {each.wording: each.id for each in self._dossier.sources}
        read: list[ReadSource] = []
        for found, result in zip(chosen, results, strict=True):
            if result is None:
                await self._dossier.put(_unread(found))
                continue
            if isinstance(result, SourceFailure):
                await self._dossier.put(Failure(id=str(found.id), failure=result))
                continue
            if same := known.get(result.wording):
                await self._dossier.put(_duplicate(found, same))
                continue
            count = len(self._dossier.sources) + 1
            known[result.wording] = count
            source = result.source.model_copy(update={"number": count})
            numbered = result.model_copy(update={"id": count, "source": source})
            await self._dossier.put(numbered)
            read.append(numbered)
        return read


def _read(
    found: Found, number: int, loaded: Mapping[str, Any], reported: list[RawFinding]
) -> ReadSource:
    retracted = str(found.details.get("retracted", "")).casefold() in ("yes", "true", "1")
    citations = found.details.get("citations")
    # The id of a record is no address, and a path from this folder names nothing elsewhere.
    address = found.address if is_address(found.address) else loaded["source"]
    return ReadSource(
        id=0,
        round=number,
        found=found.id,
        source=ReportSource(
            number=0,
            title=loaded["title"],
            source=address,
            kind=loaded["kind"],
            sha256=loaded["sha256"],
            authors=_authors(found),
            doi=str(found.details.get("doi") or ""),
            venue=str(found.details.get("venue") or ""),
            published=found.published,
            origin=origin_of(address, found.details if found.kind == "paper" else None),
            snapshot=loaded["snapshot"],
            quality=SourceQuality(relevance=found.relevance, retracted=retracted),
            limits=loaded["limits"],
        ),
        wording=loaded["wording"],
        citations=float(citations) if isinstance(citations, int | float) else None,
        reported=reported,
    )


def _authors(found: Found) -> list[str]:
    """The authors that a search names, in one text with semicolons between."""
    told = str(found.details.get("authors") or "").split(";")
    return [name for each in told if (name := each.strip())][:MOST_AUTHORS]


def failure_of(source: str, error: VrError) -> SourceFailure:
    """Name the reason why a source could not be read."""
    return SourceFailure(
        source=source,
        code=str(error.code.value),
        category=error.category,
        message=error.message,
        hint=error.hint,
    )


def _unread(found: Found) -> Decision:
    return Decision(
        id=f"read/{found.id}",
        stage="read",
        subject=found.address,
        kept=False,
        reason="the rest of the budget is for the report",
    )


def _duplicate(found: Found, same: int) -> Decision:
    return Decision(
        id=f"read/{found.id}",
        stage="read",
        subject=found.address,
        kept=False,
        reason=f"the same text as source {same}",
    )
