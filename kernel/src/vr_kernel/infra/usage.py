"""The tool that says what language models were used for."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated

from pydantic import Field

from vr_kernel.call import Call
from vr_kernel.tools import IDEMPOTENT, READ_ONLY, tool
from vr_kernel.usage_report import Grouping, UsageReport, make_report

LISTED_ROWS = 40
"""Most rows of a result, about 3,000 tokens."""


@tool(
    effects=READ_ONLY | IDEMPOTENT,
    words="how many tokens were used; what did it cost; how much money have I spent; my bill this"
    " month; spending by day, model or tool; what was the most expensive; am I within the"
    " budget; API consumption; how many model calls were made; price of the last week; why did"
    " the invoice rise; consumption since the first of the month; what uses up the quota; am I"
    " burning credits with all these videos; how expensive was that; tokens of today; what did"
    " the last analysis cost me; which model did I use most; costs per tool; have I spent more"
    " than last month; account of the consumption; how much of my free quota is left; tokens per"
    " day; what do I owe; list the costs of each video; how heavy was my use in March; cheap or"
    " expensive month; number of calls to Gemini; where does all my money go; money that went"
    " into video analysis; my spending so far; expenses; token count per model; bill for the"
    " analysis; consumption statistics; how pricey was the batch",
)
async def infra_usage(
    call: Call,
    by: Grouping = "tool",
    since: Annotated[date | None, Field(description="First day, UTC")] = None,
) -> UsageReport:
    """Sum what language models were used for, in tokens."""
    begin = None if since is None else datetime(since.year, since.month, since.day, tzinfo=UTC)
    rows = await call.services.usage.report(by, since=begin)
    return make_report(by, rows, LISTED_ROWS)
