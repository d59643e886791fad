"""Repositories at GitHub: their addresses, and the archives that are fetched of them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from vr_kernel import Code, Services, VrError

from vr_plugin_content.settings import ContentSettings

HOSTS = ("github.com", "www.github.com")
MEGABYTE = 1_000_000
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

    def link(self, path: str, line: int | None) -> str:
        """Return the address of a file of it, and of a line."""
        at = f"#L{line}" if line else ""
        ref = self.ref or "HEAD"
        return f"https://github.com/{self.owner}/{self.name}/blob/{ref}/{quote(path)}{at}"


def parse_github(address: str) -> Repository | None:
    """Return the repository that an address names as a whole; None for anything else there."""
    parts = urlsplit(address.strip())
    names = [unquote(part) for part in parts.path.split("/") if part]
    if (parts.hostname or "") not in HOSTS or len(names) < 2:  # noqa: PLR2004 - owner and name
        return None
    owner, name, *more = names
    name = name.removesuffix(".git")
    if not (_NAME.fullmatch(owner) and _NAME.fullmatch(name)) or owner in _OWN:
        return None
    if not more:
        return Repository(owner, name)
    ref = "/".join(more[1:])
    if more[0] == "tree" and ref and _REF.fullmatch(ref) and ".." not in ref:
        return Repository(owner, name, ref)
    return None


@asynccontextmanager
async def fetched(services: Services, repository: Repository) -> AsyncIterator[Any]:
    """Fetch the archive of a repository, for a `with` block; yields the file, opened for reading.

    Raises:
        VrError: NOT_FOUND for one that is not there, or not for everybody; QUOTA when GitHub wants
            a pause; TOO_LARGE; what the fetcher says.
    """
    settings: ContentSettings = services.settings
    address = "/".join(
        [settings.github_api, "repos", repository.owner, repository.name, "zipball"]
        + ([quote(repository.ref)] if repository.ref else [])
    )
    headers = {"Accept": "application/vnd.github+json"}
    if token := settings.github_token.get_secret_value():
        headers["Authorization"] = f"Bearer {token}"
    folder = _private(services)
    with NamedTemporaryFile(dir=folder, suffix=".zip") as file:
        try:
            async with services.http.open(
                address,
                headers={k: v for k, v in headers.items() if k != "Accept"},
                max_bytes=settings.max_file_mb * MEGABYTE,
            ) as download:
                async for chunk in download.chunks():
                    file.write(chunk)
        except VrError as error:
            raise _explained(error, repository) from None
        file.flush()
        with Path(file.name).open("rb") as opened:
            yield opened


def _private(services: Services) -> Path:
    from vr_kernel import private_folder

    folder: Path = services.paths.cache / "repositories"
    private_folder(folder)
    return folder


def _explained(error: VrError, repository: Repository) -> VrError:
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
            hint="Wait an hour, or set github_token in [plugins.content].",
            retryable=True,
            retry_after=error.retry_after,
        )
    return error
