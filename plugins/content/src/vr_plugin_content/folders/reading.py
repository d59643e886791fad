"""Reads folders and repositories: each as one document, whose places name the file."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from pydantic import BaseModel
from vr_kernel import Call, Code, Document, Locator, VrError, cache_key, visible_line

from vr_plugin_content.folders import archived_text
from vr_plugin_content.folders.contents import digest_files
from vr_plugin_content.folders.folder_text import FolderText, pieces_by_file
from vr_plugin_content.folders.github import Repository, fetched
from vr_plugin_content.folders.known import KnownFolders
from vr_plugin_content.folders.listing import Reason, limits_of
from vr_plugin_content.folders.manifest import (
    Manifest,
    digest,
    digests_of,
    known_digests,
    manifest_of,
    unchanged,
)
from vr_plugin_content.folders.walker import list_files
from vr_plugin_content.parsing.kept_document import FORMATS_VERSION, KeptDocument, KeptPiece
from vr_plugin_content.parsing.parser import Parser, ParseTask
from vr_plugin_content.parsing.worker import identity_of
from vr_plugin_content.settings import ContentSettings

REPOSITORY_MIME = "application/x-git"


class KeptFolder(BaseModel):
    """A folder as it was read, and what tells that it has not changed."""

    manifest: Manifest
    document: KeptDocument


async def read_folder(call: Call, folder: str) -> Document:
    """Read the files of a folder that hold text, as one document.

    A folder that has not changed since it was read is given again, and none of its files is opened.
    Of one that has changed, only the files that differ are parsed.

    Raises:
        VrError: what the path policy says of it; NOT_FOUND, category FOLDER_EMPTY.
    """
    services = call.services
    _, real = await asyncio.to_thread(services.policy.resolve_folder, folder)
    memory, address = services.providers.get(KnownFolders), str(real)
    known = memory.find(call.workspace, address)
    if known is not None and known.manifest and await _is_known(call, real, known.manifest):
        return known.document
    place = services.cache.model(_key(call, address), KeptFolder)
    kept = await place.get()
    if kept is None or not await _is_known(call, real, kept.manifest):
        kept = await _read(call, real, kept)
        await place.put(kept, content_id=address, tool=call.tool)
    sha256 = digest(kept.manifest)
    links = FolderLinks(real.as_uri())
    document = await asyncio.to_thread(kept.document.as_document, address, address, sha256, links)
    memory.keep(call.workspace, address, document, kept.manifest)
    return document


async def read_repository(call: Call, repository: Repository) -> Document:
    """Fetch a repository at GitHub, and read it as one document.

    Raises:
        VrError: as `fetched`; what the parser says.
    """
    services, memory = call.services, call.services.providers.get(KnownFolders)
    if (known := memory.fresh(call.workspace, repository.address)) is not None:
        return known
    async with fetched(services, repository) as file:
        asked = {"name": "repository.zip", "bounds": _bounds(call.settings)}
        task = ParseTask(archived_text.__name__, "parse", asked, file.name, identity_of(file))
        kept = KeptDocument.of(await services.providers.get(Parser).run(task))
    if not kept.pieces:
        raise _empty(repository.address)
    named = kept.model_copy(update={"mime": REPOSITORY_MIME, "title": repository.name})
    document = await asyncio.to_thread(_named, named, repository)
    memory.keep(call.workspace, repository.address, document)
    return document


def _named(kept: KeptDocument, repository: Repository) -> Document:
    return kept.as_document(repository.address, repository.name, _digest(kept), repository)


async def _is_known(call: Call, folder: Path, manifest: Manifest) -> bool:
    return await asyncio.to_thread(unchanged, call.services.policy, folder, manifest)


async def _read(call: Call, folder: Path, before: KeptFolder | None) -> KeptFolder:
    """Walk through a folder, and parse the files in it that hold text and are not known."""
    settings: ContentSettings = call.settings
    policy = call.services.policy
    listing = await asyncio.to_thread(list_files, policy, folder, settings)
    known = known_digests(before.manifest, listing) if before is not None else {}
    digests = await asyncio.to_thread(digest_files, policy, folder, listing, settings, known)
    text = FolderText(call, folder, _known_pieces(before, digests))
    await text.read([stamp.path for stamp in listing.files if digests.get(stamp.path)])
    if text.unread:
        listing.skip(Reason.UNREADABLE, text.unread)
    if not text.document.pieces:
        raise _empty(str(folder))
    text.document.limits += limits_of(listing.skipped, settings, complete=listing.complete)
    return KeptFolder(manifest=manifest_of(listing, digests), document=text.document)


def _known_pieces(before: KeptFolder | None, digests: dict[str, str]) -> dict[str, list[KeptPiece]]:
    """Return what was read of the files that hold what they held, by their paths."""
    if before is None:
        return {}
    then, pieces = digests_of(before.manifest), pieces_by_file(before.document)
    return {path: pieces[path] for path in pieces if digests.get(path) == then.get(path)}


@dataclass(frozen=True, slots=True)
class FolderLinks:
    """Links to the files of the folder at an address."""

    address: str

    def link(self, place: Locator, _text: str) -> str:
        """Return the address of a file, and of a page of it."""
        page = f"#page={place.page}" if place.page is not None else ""
        return f"{self.address}/{quote(place.file or '')}{page}"


def _bounds(settings: ContentSettings) -> dict[str, int]:
    return {
        "chars": settings.max_chars,
        "pages": settings.max_pages,
        "files": settings.max_files,
        "file_mb": settings.max_file_mb,
        "text_file_kb": settings.max_text_file_kb,
    }


def _digest(kept: KeptDocument) -> str:
    """The identity of a repository by what was read in it."""
    found = hashlib.sha256()
    for piece in kept.pieces:
        found.update(f"{piece.place}{len(piece.text)}{piece.text}".encode("utf-8", "replace"))
    return found.hexdigest()


def _key(call: Call, folder: str) -> str:
    return cache_key(folder=folder, version=FORMATS_VERSION, bounds=_bounds(call.settings))


def _empty(where: str) -> VrError:
    return VrError(
        f"{visible_line(where, 200)} holds no text that is read here.",
        Code.NOT_FOUND,
        category="FOLDER_EMPTY",
        hint="Pictures, programs, files of passwords and what .gitignore names are left out.",
    )
