"""The tool that says what language models were used for."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime
from typing import Annotated

from pydantic import Field

from vr_kernel.call import Call, produced_by
from vr_kernel.models.usage_report import UsageReport, make_report
from vr_kernel.state.usage import Grouping
from vr_kernel.tools import IDEMPOTENT, READ_ONLY, tool

LISTED_ROWS = 40
"""Maximum rows of a result, about 3,000 tokens."""


@tool(effects=READ_ONLY | IDEMPOTENT)
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
