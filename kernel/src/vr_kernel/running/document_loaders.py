"""The readers of documents: the protocol of a loader, and the choice among all of them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, cast

from vr_kernel.call import Call, produced_by
from vr_kernel.errors import Code, VrError

if TYPE_CHECKING:
    from vr_kernel.calls.context import Context
    from vr_kernel.documents import Document
    from vr_kernel.protocols.work import Caller
    from vr_kernel.providers import ProviderRegistry


class DocumentLoader(Protocol):
    """Reads documents of some kinds.

    It may have `async pictures(call, source) -> Sequence[DocumentPicture]`: the pictures of the
    document, kept as artifacts.
    """

    name: str

    def takes(self, source: str) -> bool:
        """Tell by its name alone if a path or address is for this loader."""

    async def load(self, call: Call, source: str) -> Document:
        """Read the document.

        Args:
            call: the call that reads it, with the services of the loader's own plugin.
            source: a path, which the path policy judges, or an http or https address.

        Raises:
            VrError: what the path policy and the fetcher refuse; UNSUPPORTED for bytes that
                are not what the name says; UNAVAILABLE for what is not installed.
        """


class LoadedDocuments:
    """The loaders of all plugins; the service `documents`."""

    def __init__(self, providers: ProviderRegistry) -> None:
        self._providers = providers

    async def load(self, call: Caller, source: str, *, pictures: bool = False) -> Document:
        """Read a document by the first loader that takes it; see `Documents.load`."""
        for name in self._providers.names(DocumentLoader):
            loader = self._taking(name, source)
            if loader is not None:
                owner = cast("Context", self._providers.owner_of(DocumentLoader, name))
                theirs = Call(produced_by(cast("Call", call)).with_context(owner))
                with self._providers.contained(DocumentLoader, name):
                    document = await loader.load(theirs, source)
                    if pictures and hasattr(loader, "pictures"):
                        found = await loader.pictures(theirs, source)
                        return replace(document, pictures=tuple(found))
                    return document
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
