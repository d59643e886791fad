"""Identities: the owner, and everyone whose token has a name."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from vr_kernel.config.settings import ServeSettings
from vr_kernel.config.sources import config_error
from vr_kernel.errors import Code, VrError
from vr_kernel.storage.principal_marks import OWNER, mark_of

SHORTEST = 16
"""Minimum length of a token in characters; a shorter one can be guessed."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
HOW_NAMED = "A name has up to 64 letters, digits, - and _."


@dataclass(frozen=True, slots=True)
class Identity:
    """The principal that a set of services belongs to.

    Attributes:
        principal: the name of the token; for the owner, the user who runs the program.
        workspace: holds what this principal records, and is where it searches.
        is_owner: True over stdio, at a terminal, in a program, and for a token without a name.
        roots: folders that the owner lets this principal read, in addition to its own files.
    """

    principal: str
    workspace: str
    is_owner: bool
    roots: tuple[Path, ...] = ()

    @property
    def mark(self) -> str:
        """The mark of its rows in a database: `token:NAME` for a token, else `owner`."""
        return OWNER if self.is_owner else mark_of(self.principal, "")


class Access:
    """The identities of one configuration.

    Args:
        settings: the tokens, and what they share.
        owner: the user who runs the program: at a terminal, over stdio, by a token without a name.
    """

    def __init__(self, settings: ServeSettings, owner: Identity) -> None:
        self._settings = settings
        self._owner = owner

    def identify(self, principal: str) -> Identity:
        """The identity of a principal, whether or not there is a token of that name.

        Raises:
            VrError: INVALID_INPUT, category PRINCIPAL_INVALID, for a name that cannot have a
                workspace.
        """
        if principal == self._owner.principal:
            return self._owner
        workspace = self._settings.workspaces.get(principal, principal)
        shared = workspace in self._settings.shared_workspaces
        if not _NAME.fullmatch(workspace) or (workspace == self._owner.workspace and not shared):
            raise VrError(
                f"{principal[:40]!r} cannot be the name of a workspace of its own.",
                Code.INVALID_INPUT,
                category="PRINCIPAL_INVALID",
                hint=HOW_NAMED,
            )
        roots = tuple(self._settings.roots.get(principal, ()))
        return Identity(principal, workspace, is_owner=False, roots=roots)

    def principals(self) -> list[str]:
        """Names of the principals that have tokens, sorted; the whole section is checked.

        Raises:
            VrError: INVALID_INPUT, category CONFIG_INVALID, for a token or a name that cannot be
                used, and for what names no token or no shared workspace.
        """
        return sorted(set(self._by_digest.values()))

    def principal_of(self, token: str) -> str | None:
        """Find the principal of a token, or None; comparing takes the same time for every token.

        Raises:
            VrError: as `principals`.
        """
        asked, known = _digest(token), self._by_digest.items()
        found = [who for digest, who in known if hmac.compare_digest(digest, asked)]
        return found[0] if found else None

    @cached_property
    def _by_digest(self) -> Mapping[bytes, str]:
        principals: dict[bytes, str] = {}
        names: list[str] = []
        for place, secret in enumerate(self._settings.tokens, 1):
            name, colon, token = secret.get_secret_value().rpartition(":")
            if len(token) < SHORTEST:
                raise _unusable(_which(place, name), f"is shorter than {SHORTEST} characters")
            who = name if colon else self._owner.principal
            names += [name] if colon else []
            if principals.setdefault(_digest(token), who) != who:
                raise _unusable(_which(place, name), "is given to two principals")
        self._check_names(names)
        self._check_shared(names)
        return principals

    def _check_names(self, names: list[str]) -> None:
        _refuse_twins(names, "Two tokens have the name", "Give each token a name of its own.")
        for name in names:
            if not _NAME.fullmatch(name):
                raise config_error(f"No token can be named {name[:40]!r}.", HOW_NAMED)
            if name.casefold() == self._owner.principal.casefold():
                raise config_error(
                    f"{name} is the user who runs the server, and no name for a token.",
                    "A token without a name is the owner's; give anyone else's another name.",
                )
            if name.casefold() == self._owner.workspace.casefold():
                raise config_error(
                    f"{name} is the owner's workspace, and no name for a token.",
                    "Name the token otherwise; [kernel.serve] workspaces can share it.",
                )

    def _check_shared(self, names: list[str]) -> None:
        shared = self._settings.shared_workspaces
        _refuse_twins(shared, "Two shared workspaces are named", "Name each once.")
        for workspace in shared:
            if not _NAME.fullmatch(workspace):
                raise config_error(f"No workspace can be named {workspace[:40]!r}.", HOW_NAMED)
            if workspace.casefold() in {name.casefold() for name in names}:
                raise config_error(
                    f"The shared workspace {workspace} has the name of a token.",
                    "That is the token's own workspace. Name the shared one otherwise.",
                )
        for name, workspace in self._settings.workspaces.items():
            if workspace not in shared:
                raise config_error(
                    f"Token {name} is given the workspace {workspace[:40]!r}, which is not shared.",
                    f"Add it to [kernel.serve] shared_workspaces: {', '.join(shared) or 'none'}.",
                )
        self._check_known("workspaces", self._settings.workspaces, names)
        self._check_known("roots", self._settings.roots, names)
        for name, folders in self._settings.roots.items():
            for folder in folders:
                _check_folder(name, folder)

    def _check_known(self, setting: str, given: Mapping[str, object], names: list[str]) -> None:
        for name in given:
            if name not in names:
                raise config_error(
                    f"[kernel.serve] {setting} names {name[:40]!r}, and no token has that name.",
                    f"Tokens have these names: {', '.join(sorted(names)) or 'none'}.",
                )


def sharing(settings: ServeSettings) -> dict[str, list[str]]:
    """Map each shared workspace to the names of the tokens that use it."""
    shared: dict[str, list[str]] = {name: [] for name in settings.shared_workspaces}
    for name, workspace in sorted(settings.workspaces.items()):
        shared.setdefault(workspace, []).append(name)
    return shared


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _refuse_twins(names: Iterable[str], said: str, hint: str) -> None:
    # Some file systems and servers ignore case.
    for name, count in Counter(name.casefold() for name in names).items():
        if count > 1:
            raise config_error(f"{said} {name[:40]!r}, ignoring case.", hint)


def _check_folder(name: str, folder: Path) -> None:
    said = f"[kernel.serve] roots gives {name} the folder {str(folder)[:200]!r}, which is"
    if not folder.is_absolute():
        # A relative path would depend on the folder the server is started in.
        raise config_error(f"{said} relative.", "Write the whole path, from / or ~ on.")
    if not folder.is_dir():
        raise config_error(f"{said} not there, or no folder.", "Make it, or name another.")


def _which(place: int, name: str) -> str:
    """Describe a token by its position and name, never by its text."""
    # A name as long as a token may really be a token that contains a colon.
    named = f", {name}," if _NAME.fullmatch(name) and len(name) < SHORTEST else ""
    return f"Token {place}{named}"


def _unusable(which: str, why: str) -> Exception:
    return config_error(
        f"{which} in VR_HTTP_TOKEN or [kernel.serve] tokens {why}.",
        "Make one: python -c 'import secrets; print(secrets.token_urlsafe(32))'",
    )
