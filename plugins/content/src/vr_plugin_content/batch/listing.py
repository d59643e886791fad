"""Lists the files of a batch: of a folder, or as they were named."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vr_kernel import Call, Code, Services, VrError, spelled_out, visible_line

from vr_plugin_content.batch.names import short_names
from vr_plugin_content.batch.request import BatchRequest
from vr_plugin_content.formats.kinds import kind_by_name
from vr_plugin_content.reading.documents import refusal_of
from vr_plugin_content.results.batch import BatchContentItem, ItemError
from vr_plugin_content.sources.source import is_address

LOOKED_AT = 10_000
"""Most files of a folder that are looked at."""
NAMED = 5
"""Most files that a remark names."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a batch: its path or address, and the short name that tells it from others."""

    place: str
    name: str

    @property
    def source(self) -> str:
        """Its path or its address, with `?` for what of a name is not UTF-8."""
        return self.place.encode("utf-8", "replace").decode()

    def check(self) -> None:
        """Refuse a name that no record can hold.

        Raises:
            VrError: INVALID_INPUT for a name that is not UTF-8.
        """
        if self.place != self.source:
            raise VrError(
                f"The name {spelled_out(self.place)} is not UTF-8.",
                Code.INVALID_INPUT,
                hint="Rename the file.",
            )

    def without(self, error: VrError) -> BatchContentItem:
        """Return the item of a file that failed."""
        return BatchContentItem(
            source=self.source, name=self.name, status="failed", error=ItemError.of(error)
        )

    def failed(self, call: Call, error: Exception) -> BatchContentItem:
        """Return the item of a file, within the handling of its error; a crash is logged.

        Raises:
            VrError: CONFLICT, category LEASE_LOST, which ends the whole batch.
        """
        if isinstance(error, VrError):
            if error.category == "LEASE_LOST":
                raise error
            return self.without(error)
        call.log.exception("document of a batch crashed", source=self.source)  # noqa: LOG004 - in one
        return self.without(
            VrError(
                f"{self.name} could not be analysed.",
                Code.INTERNAL,
                hint="The server's log has the details. Report it to the plugin.",
            )
        )


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a batch in order, and remarks on those that are left out."""

    source: str
    entries: list[Entry]
    limits: list[str]


async def list_entries(services: Services, request: BatchRequest) -> Listing:
    """List the files of a request.

    Raises:
        VrError: NOT_FOUND, category BATCH_EMPTY, when there is nothing; what the path policy says
            of the folder and the pattern, or of the first path when it allows none of them.
    """
    if request.directory:
        return await asyncio.to_thread(_of_folder, services, request)
    return await asyncio.to_thread(_of_paths, services, request)


def _of_paths(services: Services, request: BatchRequest) -> Listing:
    places = list(dict.fromkeys(each for each in request.file_paths if each.strip()))
    if not places:
        raise _empty("None of the file_paths has a name.", "Give paths or addresses.")
    refusals = [refusal_of(services, place) for place in places]
    if refusals[0] is not None and None not in refusals:
        raise refusals[0]
    source = f"{len(places)} files" if len(places) != 1 else places[0]
    return Listing(source, _entries(places[: request.most]), _left_out(len(places), request.most))


def _of_folder(services: Services, request: BatchRequest) -> Listing:
    matches = services.policy.match_files(request.directory, request.pattern, limit=LOOKED_AT)
    paths = [path for path in matches.paths if kind_by_name(path.name) is not None]
    others = [path for path in matches.paths if kind_by_name(path.name) is None]
    if not paths:
        raise _empty(
            f"No document in {Path(request.directory)} matches {request.pattern!r}.",
            " ".join([*_unread(others), "glob_pattern='**/*' takes subfolders, too."]),
        )
    limits = [*_left_out(len(paths), request.most), *_unread(others)]
    if not matches.complete:
        limits.append("The folder is too large to be looked at whole; give a narrower pattern.")
    folder = str(Path(request.directory).expanduser().resolve())
    entries = _entries([str(path) for path in paths[: request.most]])
    return Listing(folder.encode("utf-8", "replace").decode(), entries, limits)


def _entries(places: Sequence[str]) -> list[Entry]:
    told = [each.encode("utf-8", "replace").decode() for each in places]
    shown = [each.partition("://")[2].rstrip("/") if is_address(each) else each for each in told]
    return [Entry(place, name) for place, name in zip(places, short_names(shown), strict=True)]


def _left_out(found: int, most: int) -> list[str]:
    return [f"{most} of {found} files were taken; see max_files."] if found > most else []


def _unread(paths: Sequence[Path]) -> list[str]:
    """The remark on files that are no documents."""
    if not paths:
        return []
    count = "1 file was" if len(paths) == 1 else f"{len(paths)} files were"
    shown = ", ".join(visible_line(path.name, 60) for path in paths[:NAMED])
    more = ", ..." if len(paths) > NAMED else ""
    return [f"{count} left out, as no document: {shown}{more}. Films are for the video tools."]


def _empty(message: str, hint: str) -> VrError:
    return VrError(message, Code.NOT_FOUND, category="BATCH_EMPTY", hint=hint)
