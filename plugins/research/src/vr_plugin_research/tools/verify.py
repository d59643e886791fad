"""`research_verify`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, READ_ONLY, Call, tool

from vr_plugin_research.results.verification import Verification


@tool(effects=READ_ONLY | CALLS_OUT, long=True)
async def research_verify(
    call: Call,
    report_id: str,
    refresh: Annotated[bool, Field(description="Fetch sources anew")] = False,
) -> Verification:
    """Check every quote of a report again, offline by its kept sources; lists what changed."""
    from vr_plugin_research.reports.stored import stored_report
    from vr_plugin_research.verification.fitting import fitted_verification
    from vr_plugin_research.verification.replaying import Replay

    report = await stored_report(call.services, report_id)
    found = await Replay(call, report, refresh=refresh).verify()
    return await fitted_verification(found)
