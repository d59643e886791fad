"""Chooses the workspace that a tool reads."""

from __future__ import annotations

import re

from vr_kernel import Call, Code, VrError

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def choose_workspace(call: Call, name: str | None) -> str:
    """Choose the named workspace, or the configured one; only the owner may see others.

    Raises:
        VrError: INVALID_INPUT for an invalid name; NOT_ALLOWED for a client
            whose token is not the owner's.
    """
    if name is None or name == call.workspace:
        return call.workspace
    if not _NAME.fullmatch(name):
        raise VrError(
            f"No workspace is named {name[:40]!r}.",
            Code.INVALID_INPUT,
            hint="A name has up to 64 letters, digits, - and _.",
        )
    if not call.services.identity.is_owner:
        raise VrError(
            "Only the owner of this server may look into another workspace.",
            Code.NOT_ALLOWED,
            hint="Leave workspace out.",
        )
    return name
