"""Records of reports and answers: once, and again when they were deleted."""

from __future__ import annotations

import json

from vr_kernel import Call, Record, VrError

from vr_plugin_research.interactions.interaction import Interaction
from vr_plugin_research.interactions.record_kinds import DEEP_REPORTS, deep_report_key


async def record(call: Call, interaction: Interaction) -> None:
    """Record the text of a research that has one, unless that is done."""
    if not interaction.answers:
        return
    fields = {
        "topic": interaction.topic,
        "report": interaction.text,
        "sources_json": json.dumps([it.model_dump() for it in interaction.sources]),
        "interaction_id": interaction.id,
        "follows": interaction.follows,
        "artifacts": [interaction.whole_uri] if interaction.whole_uri else [],
    }
    key = deep_report_key(fields)
    try:
        known = await call.services.journal.has(call.workspace, [(DEEP_REPORTS, key)])
    except VrError as error:
        call.note(f"The report was not recorded again: {error.message}")
        return
    if not known:
        call.record(Record(DEEP_REPORTS, {name: it for name, it in fields.items() if it}))
