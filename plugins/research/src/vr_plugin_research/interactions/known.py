"""The researches that a principal began, as rows."""

from __future__ import annotations

import re
import time

from pydantic import ValidationError
from vr_kernel import Code, Services, VrError
from vr_kernel.state import Put

from vr_plugin_research.interactions.interaction import Interaction

KEPT_S = 400 * 86_400.0
"""Seconds that a research is kept; its report is also a record, which stays."""
LONGEST_S = 3600.0
"""Longest time of a research; the service ends it then."""
_PREFIX, _EQUAL = "interaction/", "equal/"
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


async def find(services: Services, interaction_id: str) -> Interaction:
    """Find a research of this principal.

    Raises:
        VrError: NOT_FOUND, category INTERACTION_UNKNOWN, in the same words for one of another
            principal.
    """
    wanted = interaction_id.strip().lower()
    row = await services.rows.get(_PREFIX + wanted) if _ID.fullmatch(wanted) else None
    try:
        if row is not None:
            return Interaction.model_validate(row.value)
    except ValidationError:
        services.log.warning("a research is damaged", interaction=wanted)
    raise VrError(
        "There is no research of that id.",
        Code.NOT_FOUND,
        category="INTERACTION_UNKNOWN",
        hint="Give the interaction_id that research_web returned.",
    )


async def keep(services: Services, interaction: Interaction, *, key: str = "") -> None:
    """Keep a research, or its new state; with `key` as the newest that was begun by that key."""
    now = time.time()
    place = _PREFIX + interaction.id
    changes = [Put(place, interaction.model_dump(mode="json"), expires_at=now + KEPT_S)]
    if key:
        changes.append(Put(_EQUAL + key, interaction.id, expires_at=now + LONGEST_S))
    await services.rows.write(*changes, paid=True)


async def under_way(services: Services, key: str) -> Interaction | None:
    """Find the research that was begun by a key, unless it is known to have ended."""
    row = await services.rows.get(_EQUAL + key)
    if row is None:
        return None
    try:
        interaction = await find(services, str(row.value))
    except VrError as error:
        if error.code is not Code.NOT_FOUND:
            raise
        return None
    return None if interaction.has_ended else interaction
