"""The tools that say what language models cost: so far, and the next call."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime
from typing import Annotated, Any

from pydantic import Field

from vr_kernel.call import Call, produced_by
from vr_kernel.spending.reports import Estimate, UsageReport, make_report
from vr_kernel.state.usage import Grouping
from vr_kernel.tools import CALLS_OUT, IDEMPOTENT, READ_ONLY
from vr_kernel.tools import tool as as_tool

LISTED_ROWS = 40
"""Maximum rows of a result, about 3,000 tokens."""


@as_tool(effects=READ_ONLY | IDEMPOTENT)
async def infra_usage(
    call: Call,
    by: Grouping = "tool",
    since: Annotated[date | None, Field(description="First day, UTC")] = None,
) -> UsageReport:
    """Sum what you used language models for, in tokens."""
    begin = None if since is None else datetime(since.year, since.month, since.day, tzinfo=UTC)
    rows = await call.services.usage.report(by, since=begin, principal=call.principal)
    for remark in await asyncio.to_thread(produced_by(call).context.usage.remarks):
        call.note(remark)
    return make_report(by, rows, LISTED_ROWS)


@as_tool(effects=READ_ONLY | CALLS_OUT)
async def infra_estimate(
    call: Call,
    tool: Annotated[str, Field(pattern=r"^\S+$")],
    arguments: Annotated[dict[str, Any] | None, Field(description="As for the tool")] = None,
) -> Estimate:
    """Tell what a call of a tool would cost, without asking a model."""
    from vr_kernel.running.preview import preview

    return await preview(produced_by(call), tool, arguments or {})
