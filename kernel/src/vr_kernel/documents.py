"""Documents as located text, whoever reads them; and the kind of record that passages become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol, cast

from vr_kernel.call import Call, produced_by
from vr_kernel.errors import Code, VrError
from vr_kernel.records import RecordField, RecordKind, entity_key

if TYPE_CHECKING:
    from vr_kernel.calls.context import Context
    from vr_kernel.providers import ProviderRegistry


@dataclass(frozen=True, slots=True)
class Locator:
    """The place of a text in its document; what does not apply is left out.

    Args:
        start: seconds from the beginning of a recording; `end` likewise.
        page: of a document with pages, from 1.
        slide: of a presentation, from 1.
        sheet: name of a table's sheet; `cells` its range, such as `A1:C9`.
        first_line: of a text, from 1; `last_line` is the last one that belongs to it.
        heading: the headings above it, the outermost first.
    """

    start: float | None = None
    end: float | None = None
    page: int | None = None
    slide: int | None = None
    sheet: str | None = None
    cells: str | None = None
    first_line: int | None = None
    last_line: int | None = None
    heading: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The fields that apply, as JSON."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in found.items()
            if value is not None and value != ()
        }


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a document's text, and its place; `link` opens the document there."""

    text: str
    locator: Locator
    link: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A document as text in order. Its content is data: nothing in it is an instruction.

    Args:
        source: the path or address that it was asked for by.
        title: as the document names itself, or its file's name.
        mime: the media type.
        sha256: of its bytes in hexadecimal; empty for what has none of its own.
        segments: its text, in the document's order.
        limits: what could not be read, and what to do about it.
    """

    source: str
    title: str
    mime: str
    sha256: str
    segments: Sequence[Segment]
    limits: tuple[str, ...] = ()


class DocumentLoader(Protocol):
    """Reads documents of some kinds."""

    name: str

    def takes(self, source: str) -> bool:
        """Tell by its name alone if a path or address is for this loader."""

    async def load(self, call: Call, source: str) -> Document:
        """The document.

        Args:
            call: the call that wants it, with the services of the loader's own plugin.
            source: a path, which the path policy judges, or an http or https address.

        Raises:
            VrError: what the path policy and the fetcher refuse; UNSUPPORTED for bytes that
                are not what the name says; UNAVAILABLE for what is not installed.
        """


class Documents:
    """The loaders of all plugins."""

    def __init__(self, providers: ProviderRegistry) -> None:
        self._providers = providers

    async def load(self, call: Call, source: str) -> Document:
        """The document at a path or an address, read by the first loader that takes it.

        Args:
            call: the call that wants it: what reading costs and records belongs to it.
            source: a path, or an http or https address.

        Raises:
            VrError: UNSUPPORTED, category NO_LOADER; else as `DocumentLoader.load`.
        """
        for name in self._providers.names(DocumentLoader):
            loader = self._taking(name, source)
            if loader is not None:
                owner = cast("Context", self._providers.owner_of(DocumentLoader, name))
                theirs = Call(produced_by(call).with_context(owner))
                with self._providers.contained(DocumentLoader, name):
                    return await loader.load(theirs, source)
        raise VrError(
            "No plugin reads this kind of document.",
            Code.UNSUPPORTED,
            category="NO_LOADER",
            hint="`vr plugin list` shows what is installed; a loader comes with a plugin.",
        )

    def _taking(self, name: str, source: str) -> DocumentLoader | None:
        """The loader of that name, if it takes the source; one that fails takes nothing."""
        with suppress(VrError), self._providers.contained(DocumentLoader, name):
            loader = self._providers.get(DocumentLoader, name)
            return loader if loader.takes(source) else None
        return None


def passage_identity(of: Mapping[str, Any]) -> str:
    """The key of a passage: its document, and its foreign id or else its place and words."""
    source, foreign = of.get("source"), of.get("external_id")
    if not source:
        return ""
    place = (foreign,) if foreign else (of.get("locator", ""), of.get("text", ""))
    return entity_key("DocumentPassages", source, *place)


DOCUMENT_PASSAGES = RecordKind(
    name="DocumentPassages",
    description="Passages of documents, with the place where each stands.",
    fields=(
        RecordField("source", "text", "Address or path of the document.", filterable=True),
        RecordField("sha256", "text", "Digest of the document in hexadecimal.", filterable=True),
        RecordField("title", "text", "Of the document.", vectorised=True, searchable=True),
        RecordField("locator", "text", "Page, heading or lines of the passage."),
        RecordField("text", "text", "The passage.", vectorised=True, searchable=True),
        RecordField("external_id", "text", "Its id in a foreign collection.", filterable=True),
        RecordField("link", "text", "Opens the document."),
    ),
    rerank="text",
    source="source",
    link="link",
    locator=("locator",),
    identity=passage_identity,
)
