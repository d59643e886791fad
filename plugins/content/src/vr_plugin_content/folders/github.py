"""Repositories at GitHub: their addresses, and the archives that are fetched of them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from vr_kernel import Code, Locator, Services, VrError

from vr_plugin_content.settings import ContentSettings
from vr_plugin_content.sources.work_folder import work_folder

HOSTS = ("github.com", "www.github.com")
MEGABYTE = 1_000_000
DEADLINE_S = 600.0
"""Longest time for an archive."""
_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
_REF = re.compile(r"[A-Za-z0-9._/@+-]{1,200}")
_OWN = frozenset(
    {"about", "features", "login", "orgs", "pricing", "search", "settings", "topics", "explore"}
)
"""First parts of addresses at GitHub that are no owners."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository: its owner, its name, and a branch, tag or commit; empty for the default one."""

    owner: str
    name: str
    ref: str = ""

    @property
    def address(self) -> str:
        """The address by which it is known."""
        tree = f"/tree/{self.ref}" if self.ref else ""
        return f"https://github.com/{self.owner}/{self.name}{tree}"

    def link(self, place: Locator, _text: str) -> str:
        """Return the address of a file of it, and of a line."""
        at = f"#L{place.first_line}" if place.first_line else ""
        ref = quote(self.ref or "HEAD")
        path = quote(place.file or "")
        return f"https://github.com/{self.owner}/{self.name}/blob/{ref}/{path}{at}"


def parse_github(address: str) -> Repository | None:
    """Return the repository that an address names as a whole; None for anything else there."""
    try:
        parts = urlsplit(address.strip())
        host = parts.hostname or ""
    except ValueError:  # no address at all; the fetcher says so
        return None
    names = [unquote(part) for part in parts.path.split("/") if part]
    if host not in HOSTS or len(names) < 2:  # noqa: PLR2004 - owner and name
        return None
    owner, name, *more = names
    name = name.removesuffix(".git")
    if not (_is_name(owner) and _is_name(name)) or owner in _OWN:
        return None
    if not more:
        return Repository(owner, name)
    ref = "/".join(more[1:])
    if more[0] == "tree" and _REF.fullmatch(ref) and ".." not in ref:
        return Repository(owner, name, ref)
    return None


def _is_name(word: str) -> bool:
    return _NAME.fullmatch(word) is not None and word.strip(".") != ""


@asynccontextmanager
async def fetched(services: Services, repository: Repository) -> AsyncIterator[Any]:
    """Fetch the archive of a repository, for a `with` block; yields the file, opened for reading.

    Raises:
        VrError: NOT_FOUND for one that is not there, or not for everybody; QUOTA when GitHub wants
            a pause; TOO_LARGE; what the fetcher says.
    """
    settings: ContentSettings = services.settings
    ref = f"/{quote(repository.ref)}" if repository.ref else ""
    address = f"{settings.github_api}/repos/{repository.owner}/{repository.name}/zipball{ref}"
    token = settings.github_token.get_secret_value()
    with work_folder(services) as folder, (folder / "repository.zip").open("w+b") as file:
        try:
            async with services.http.open(
                address,
                headers={"Authorization": f"Bearer {token}"} if token else {},
                max_bytes=settings.max_file_mb * MEGABYTE,
                deadline_s=DEADLINE_S,
            ) as download:
                async for chunk in download.chunks():
                    file.write(chunk)
            file.seek(0)  # writes what is left
        except VrError as error:
            raise _explained(error, repository, has_token=bool(token)) from None
        except OSError as error:
            raise _unkept(error) from None
        yield file


def _explained(error: VrError, repository: Repository, *, has_token: bool) -> VrError:
    """Say what a refusal means for a repository."""
    named = f"{repository.owner}/{repository.name}"
    if error.code is Code.NOT_FOUND:
        return VrError(
            f"GitHub has no repository {named}, or not for everybody.",
            Code.NOT_FOUND,
            category="REPOSITORY_NOT_FOUND",
            hint="Check the name. A private one needs github_token in [plugins.content].",
        )
    if error.category in ("HTTP_FORBIDDEN", "HTTP_TOO_MANY_REQUESTS"):
        return VrError(
            f"GitHub does not give {named} now.",
            Code.QUOTA,
            category="GITHUB_LIMIT",
            hint="Check that github_token in [plugins.content] is valid, or wait an hour."
            if has_token
            else "Wait an hour, or set github_token in [plugins.content].",
            retryable=True,
            retry_after=error.retry_after,
        )
    if error.code is Code.TOO_LARGE:
        return VrError(
            f"The archive of {named} is too large.",
            Code.TOO_LARGE,
            category="FILE_TOO_LARGE",
            hint="Raise max_file_mb in [plugins.content], or clone it and name a folder in it.",
        )
    return error


def _unkept(error: OSError) -> VrError:
    return VrError(
        f"The archive could not be kept: {error.strerror}.",
        Code.UNAVAILABLE,
        category="DISK",
        hint="Make room on the disk of the cache folder, and call again.",
    )
