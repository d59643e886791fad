"""Sessions of an earlier version, whose file becomes rows once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vr_kernel import Services
from vr_kernel.state import Adopted, Put, adopt_file
from vr_kernel.storage import told_by

from vr_plugin_video.sessions.rows import (
    Owner,
    read_session,
    read_turn,
    session_key,
    session_value,
    turn_key,
)
from vr_plugin_video.settings import VideoSettings

FILE_NAME = "sessions.db"


async def adopt_sessions(services: Services) -> None:
    """Take over the file of sessions that the settings name, if there is one.

    Raises:
        VrError: as `adopt_file`.
    """
    owners: dict[str, Owner] = {}

    def sessions(row: Mapping[str, Any]) -> Iterator[Adopted]:
        session = read_session(row)
        if session is None:
            raise ValueError("a session is damaged")
        owners[session.id] = session.owner
        yield _placed(Put(session_key(session.id), session_value(session)), session.owner)

    def turns(row: Mapping[str, Any]) -> Iterator[Adopted]:
        turn = read_turn(row)
        if turn is None:
            raise ValueError("a turn is damaged")
        if turn.session_id in owners:
            put = Put(turn_key(turn.session_id, turn.number), turn._asdict())
            yield _placed(put, owners[turn.session_id])

    tables = {"session": sessions, "turn": turns}
    await adopt_file(
        _former(services), services.rows, services.leases, tables, told_by(services.log)
    )


def _former(services: Services) -> Path:
    settings: VideoSettings = services.settings
    return services.paths.state / Path(settings.session_db_path or FILE_NAME).expanduser()


def _placed(put: Put, owner: Owner) -> Adopted:
    return Adopted(put, owner.workspace, owner.mark)
