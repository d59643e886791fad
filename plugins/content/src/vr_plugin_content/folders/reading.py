"""Reads folders and repositories: each as one document, whose places name the file."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel
from vr_kernel import (
    Call,
    Code,
    Document,
    Heading,
    Locator,
    Segment,
    Services,
    VrError,
    cache_key,
    visible,
    visible_line,
)

from vr_plugin_content.folders.contents import digest_files
from vr_plugin_content.folders.github import Repository, fetched
from vr_plugin_content.folders.known import KnownFolders
from vr_plugin_content.folders.listing import Reason, limits_of
from vr_plugin_content.folders.manifest import (
    Manifest,
    digest,
    known_digests,
    manifest_of,
    unchanged,
)
from vr_plugin_content.folders.walker import list_files
from vr_plugin_content.formats.kinds import TEXT, kind_by_name
from vr_plugin_content.parsing.parser import Parser, ParseTask
from vr_plugin_content.parsing.worker import identity_of
from vr_plugin_content.reading.kept_document import (
    FORMATS_VERSION,
    KeptDocument,
    KeptHeading,
    KeptPiece,
    locator_of,
)
from vr_plugin_content.settings import ContentSettings

FOLDER_MIME, REPOSITORY_MIME = "inode/directory", "application/x-git"
AT_ONCE = 100
"""Files that a worker is given at a time."""


class KeptFolder(BaseModel):
    """A folder as it was read, and what tells that it has not changed."""

    manifest: Manifest
    document: KeptDocument


async def read_folder(call: Call, folder: str) -> Document:
    """Read the files of a folder that hold text, as one document.

    A folder that has not changed since it was read is given again, and none of its files is opened.

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
    document = _document(kept.document, address, digest(kept.manifest), _FileLinks(real))
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
    settings: ContentSettings = call.settings
    async with fetched(services, repository) as file:
        asked = {"name": "repository.zip", "bounds": {"chars": settings.max_chars}}
        task = ParseTask("archive", "parse", asked, path=file.name, identity=identity_of(file))
        kept = KeptDocument.of(await services.providers.get(Parser).run(task))
    if not kept.pieces:
        raise _empty(repository.address)
    named = kept.model_copy(update={"mime": REPOSITORY_MIME, "title": repository.name})
    links = _RepositoryLinks(repository)
    document = _document(named, repository.address, _digest(named), links)
    memory.keep(call.workspace, repository.address, document)
    return document


async def _is_known(call: Call, folder: Path, manifest: Manifest) -> bool:
    return await asyncio.to_thread(unchanged, call.services.policy, folder, manifest)


async def _read(call: Call, folder: Path, before: KeptFolder | None) -> KeptFolder:
    """Walk through a folder, and parse the files in it that hold text."""
    settings: ContentSettings = call.settings
    policy = call.services.policy
    listing = await asyncio.to_thread(list_files, policy, folder, settings)
    known = known_digests(before.manifest, listing) if before is not None else {}
    digests = await asyncio.to_thread(digest_files, policy, folder, listing, settings, known)
    paths = [stamp.path for stamp in listing.files if digests.get(stamp.path)]
    kept = KeptDocument(mime=FOLDER_MIME, title=folder.name, pieces=[])
    left, unread = settings.max_chars, 0
    for at in range(0, len(paths), AT_ONCE):
        some = paths[at : at + AT_ONCE]
        tasks = await asyncio.to_thread(_tasks, call.services, folder, some)
        for path, parsed in zip(some, await _parsed(call, tasks), strict=True):
            if parsed is None:
                unread += 1
                continue
            left = _add(kept, path, parsed, left)
        call.progress(at + len(some), len(paths), f"Reading {some[-1]}")
        if left <= 0:
            kept.limits.append(f"Its text is too long: what follows {some[-1]} was left out.")
            break
    if unread:
        listing.skip(Reason.UNREADABLE, unread)
    kept.limits += limits_of(listing.skipped, settings, complete=listing.complete)
    if not kept.pieces:
        raise _empty(str(folder))
    return KeptFolder(manifest=manifest_of(listing, digests), document=kept)


def _tasks(services: Services, folder: Path, paths: Sequence[str]) -> list[ParseTask | None]:
    """Open and check each file, and return a task for it; None for one that cannot be read."""
    return [_task(services, folder / path) for path in paths]


def _task(services: Services, path: Path) -> ParseTask | None:
    kind = kind_by_name(path.name) or TEXT
    with suppress(VrError, OSError), services.policy.open_file(path) as file:
        identity = identity_of(file)
        return ParseTask(kind.format, "parse", {"name": path.name}, file.name, identity)
    return None


async def _parsed(call: Call, tasks: Sequence[ParseTask | None]) -> list[KeptDocument | None]:
    there = [task for task in tasks if task is not None]
    answers = iter(await call.services.providers.get(Parser).run_many(there) if there else [])
    found = [None if task is None else next(answers) for task in tasks]
    return [None if each is None else KeptDocument.of(each) for each in found]


def _add(kept: KeptDocument, path: str, parsed: KeptDocument, left: int) -> int:
    """Add the text of a file; returns how many characters there is room for behind it."""
    kept.outline.append(KeptHeading(text=path, level=1, place={"file": path}))
    for piece in parsed.pieces:
        if left <= 0:
            break
        text = piece.text[:left]
        kept.pieces.append(KeptPiece(text=text, place={"file": path, **piece.place}))
        left -= len(text)
    return left


class _FileLinks:
    """Links to files of a folder."""

    def __init__(self, folder: Path) -> None:
        self._base = folder.as_uri()

    def link(self, place: Locator) -> str:
        from urllib.parse import quote

        page = f"#page={place.page}" if place.page is not None else ""
        return f"{self._base}/{quote(place.file or '')}{page}"


class _RepositoryLinks:
    """Links to files of a repository, and to lines of them."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def link(self, place: Locator) -> str:
        return self._repository.link(place.file or "", place.first_line)


def _document(
    kept: KeptDocument, address: str, sha256: str, links: _FileLinks | _RepositoryLinks
) -> Document:
    return Document(
        source=address,
        title=visible_line(kept.title, 300) or address,
        mime=kept.mime,
        sha256=sha256,
        segments=[_segment(piece, links) for piece in kept.pieces],
        limits=tuple(kept.limits),
        outline=tuple(
            Heading(visible_line(each.text, 300), each.level, locator_of(each.place))
            for each in kept.outline
        ),
    )


def _segment(piece: KeptPiece, links: _FileLinks | _RepositoryLinks) -> Segment:
    place = locator_of(piece.place)
    return Segment(visible(piece.text), place, links.link(place))


def _digest(kept: KeptDocument) -> str:
    """The identity of a repository by what was read in it."""
    found = hashlib.sha256()
    for piece in kept.pieces:
        found.update(f"{piece.place}{len(piece.text)}{piece.text}".encode("utf-8", "replace"))
    return found.hexdigest()


def _key(call: Call, folder: str) -> str:
    settings: ContentSettings = call.settings
    bounds = [settings.max_chars, settings.max_files, settings.max_text_file_kb]
    return cache_key(folder=folder, version=FORMATS_VERSION, bounds=bounds)


def _empty(where: str) -> VrError:
    return VrError(
        f"{visible_line(where, 200)} holds no text that is read here.",
        Code.NOT_FOUND,
        category="FOLDER_EMPTY",
        hint="Hidden files, pictures, programs and what .gitignore names are left out.",
    )
