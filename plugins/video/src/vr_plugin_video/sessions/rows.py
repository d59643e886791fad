"""A session and its turns, and their rows."""

from __future__ import annotations

from typing import Any, NamedTuple

from vr_kernel import Call

from vr_plugin_video.youtube.addresses import watch_url

_Types = tuple[type | tuple[type, ...], ...]
_NUMBER = (int, float)
_IS: Any = isinstance
_SESSION: _Types = (*[str] * 8, _NUMBER, str, _NUMBER, _NUMBER, int, int)
_TURN: _Types = (str, int, *[str] * 4, _NUMBER)
OWNER, TOKEN = "owner", "token:"


class Owner(NamedTuple):
    """The owner of a session; `mark` identifies the principal."""

    mark: str
    workspace: str


class PageStart(NamedTuple):
    """The place in a list after which a page begins: a session's time and id."""

    last_active: float
    session_id: str


class Session(NamedTuple):
    """A conversation about one video; times in Unix seconds.

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
        version: of the row that it was read from; 0 before it is saved.
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
    version: int = 0

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


class SessionTurn(NamedTuple):
    """A question and its answer; `number` counts from 1, `asked_at` is a Unix time."""

    session_id: str
    number: int
    call_id: str
    prompt: str
    response: str
    model: str
    asked_at: float


def owner_of(call: Call) -> Owner:
    """Return the owner whose sessions a call may use."""
    return Owner(call.services.identity.mark, call.workspace)


def session_key(session_id: str) -> str:
    """Return the key of a session's row."""
    return f"session/{session_id}"


def turn_key(session_id: str, number: int) -> str:
    """Return the key of a turn's row; keys are sorted as the turns are."""
    return f"turn/{session_id}/{number:08}"


def turns_of(session_id: str) -> str:
    """Return the beginning of the keys of a session's turns."""
    return f"turn/{session_id}/"


def late_turns_of(session_id: str) -> str:
    """Return the beginning of the keys of turns that had to wait for room on the disk."""
    return f"late/{session_id}/"


def session_value(session: Session) -> dict[str, Any]:
    """Return a session as its row keeps it."""
    value = session._asdict()
    del value["version"]
    return value


def read_session(value: Any, version: int = 0) -> Session | None:
    """Return the session of a row; None when it is damaged."""
    try:
        session = Session(**value, version=version)
    except TypeError:
        return None
    return session if _is_sound(session, _SESSION) else None


def read_turn(value: Any) -> SessionTurn | None:
    """Return the turn of a row; None when it is damaged."""
    try:
        turn = SessionTurn(**value)
    except TypeError:
        return None
    return turn if _is_sound(turn, _TURN) else None


def _is_sound(values: tuple[Any, ...], types: _Types) -> bool:
    return all(map(_IS, values, types))
