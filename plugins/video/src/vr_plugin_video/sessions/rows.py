"""A session and its turns, as they are stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from vr_kernel import Call

from vr_plugin_video.youtube.addresses import watch_url

Types = tuple[type | tuple[type, ...], ...]
"""Types of the columns of a row."""
_NUMBER = (int, float)
SESSION_TYPES: Types = (*[str] * 8, _NUMBER, str, _NUMBER, _NUMBER, int)
TURN_TYPES: Types = (str, int, str, str, str, str, _NUMBER)
OWNER, TOKEN = "owner", "token:"
MARK = f"CASE WHEN substr(principal, 1, {len(TOKEN)}) = '{TOKEN}' THEN principal ELSE '{OWNER}' END"
"""SQL: the mark of a row, as `Session.owner` has it."""


class Owner(NamedTuple):
    """The owner of a session; `mark` identifies the principal."""

    mark: str
    workspace: str


class PageStart(NamedTuple):
    """The place in a list after which a page begins: a session's time and id."""

    last_active: float
    session_id: str


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation about one video; fields in the order of their table, times in Unix seconds.

    Args:
        id: 12 hexadecimal digits.
        principal: the mark of its owner; older sessions have the name of the system's user.
        workspace: the workspace of its records.
        video_id: YouTube id or SHA-256 of the file.
        title: the video's.
        address: its URL; empty for a file of this machine.
        path: its file; empty for a video that a model watches at YouTube.
        digest: SHA-256 of that file.
        duration: in seconds, 0 when not known.
        description: what the conversation is for.
        created_at, last_active: when it began, and when something was last asked.
        turn_count: how many turns it has.
    """

    id: str
    principal: str
    workspace: str
    video_id: str
    title: str
    address: str
    path: str
    digest: str
    duration: float
    description: str
    created_at: float
    last_active: float
    turn_count: int = 0

    @property
    def owner(self) -> Owner:
        """The owner; the holder of a token only when the session has a token's mark."""
        mark = self.principal if self.principal.startswith(TOKEN) else OWNER
        return Owner(mark, self.workspace)

    @property
    def source(self) -> str:
        """The path or address of the video, as records name it."""
        return self.address or self.path

    @property
    def from_youtube(self) -> bool:
        """True when the video is at YouTube."""
        return self.address == watch_url(self.video_id)


@dataclass(frozen=True, slots=True)
class SessionTurn:
    """A question and its answer; `number` counts from 1, `asked_at` is a Unix time."""

    session_id: str
    number: int
    call_id: str
    prompt: str
    response: str
    model: str
    asked_at: float


def owner_in(row: Sequence[Any]) -> Owner:
    """Return the owner of a session's row, even if other columns of it are damaged."""
    mark = str(row[1])
    return Owner(mark if mark.startswith(TOKEN) else OWNER, str(row[2]))


def owner_of(call: Call) -> Owner:
    """Return the owner whose sessions a call may use."""
    return Owner(call.services.identity.mark, call.workspace)
