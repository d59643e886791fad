"""Folders and repositories that this process has read: given again without another look inside."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass

from vr_kernel import Document, Services

from vr_plugin_content.folders.manifest import Manifest

MOST = 4
"""Documents of folders that are remembered."""
SECONDS = 600.0
"""How long a fetched repository is taken for the present one."""


@dataclass(frozen=True, slots=True)
class KnownFolder:
    """A folder as it was read, and what tells that it has not changed."""

    document: Document
    manifest: Manifest | None
    read_at: float


class KnownFolders:
    """The folders and repositories that were read last, by their workspace and their address."""

    def __init__(self, _services: Services) -> None:
        """Begin with none; there is one of these per kernel."""
        self._known: OrderedDict[tuple[str, str], KnownFolder] = OrderedDict()

    def find(self, workspace: str, address: str) -> KnownFolder | None:
        """Return what is known of an address."""
        found = self._known.get((workspace, address))
        if found is not None:
            self._known.move_to_end((workspace, address))
        return found

    def fresh(self, workspace: str, address: str) -> Document | None:
        """Return a repository that was fetched a short time ago."""
        found = self.find(workspace, address)
        if found is None or time.monotonic() - found.read_at > SECONDS:
            return None
        return found.document

    def keep(
        self, workspace: str, address: str, document: Document, manifest: Manifest | None = None
    ) -> None:
        """Remember a document; the one that was used longest ago is forgotten."""
        self._known[workspace, address] = KnownFolder(document, manifest, time.monotonic())
        self._known.move_to_end((workspace, address))
        while len(self._known) > MOST:
            self._known.popitem(last=False)
