"""Previews: a tool runs up to its first request to a model, which is noted and not sent."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from vr_kernel.call import Call
from vr_kernel.calls.commit import settle
from vr_kernel.calls.produced import Produced
from vr_kernel.errors import VrError
from vr_kernel.isolation.plugin_code import PluginCode, contained
from vr_kernel.isolation.previewing import PREVIEWED, Previewing
from vr_kernel.models.usage import Meter
from vr_kernel.progress import silent
from vr_kernel.questions import AnswerNeeded
from vr_kernel.spending.estimates import estimate, estimate_by_calls
from vr_kernel.spending.paid_requests import Foreseen
from vr_kernel.spending.reports import Estimate
from vr_kernel.tools import Effects, Tool

if TYPE_CHECKING:
    from vr_kernel.calls.context import Context
    from vr_kernel.running.job_runner import JobRunner

LONGEST_S = 20.0
"""Seconds that a tool may work before its first request, such as fetching what it is about."""
HISTORY = 500
"""Earlier attempts of a tool that are looked at."""
NO_MODEL = "This tool asks no model."
TOO_LONG = "What comes before the first request takes longer than {seconds:g} s: {rest}."
BY_CALLS = "the estimate is from earlier calls alone, whatever they were about"
BY_NOTHING = "without earlier calls the cost is not known"
MORE = "more requests may follow those that are counted"


async def preview(asking: Produced, name: str, arguments: Mapping[str, Any]) -> Estimate:
    """Estimate a call of a tool, for the caller of another call.

    The tool does what comes before its first request to a model: it looks into files, pages and the
    cache. Nothing is sent to a model, recorded or cached.

    Raises:
        VrError: NOT_FOUND for an unknown tool; what the tool raises before it asks a model, such as
            INVALID_INPUT.
    """
    runner = cast("JobRunner", asking.context.jobs)
    tool, context = await runner.served(name)
    validated = tool.validate(arguments)
    if Effects.PAID not in tool.effects:
        return estimate(name, [], []).model_copy(update={"notes": [NO_MODEL]})
    foreseen, late, ended = Foreseen(), False, False
    work = _work(asking, tool, context, foreseen)
    try:
        async with asyncio.timeout(LONGEST_S):
            ended = await _try(tool, work, validated, foreseen)
    except TimeoutError:
        late = True
    finally:
        await settle(work)
    history = await context.usage.recent(HISTORY, name)
    counted = foreseen.estimated
    if late and not counted:
        found = estimate_by_calls(name, history)
    else:
        found = estimate(name, counted, history)
    notes = [*foreseen.told(ended=ended), *found.notes]
    if late:
        rest = MORE if counted else BY_CALLS if found.earlier_calls else BY_NOTHING
        notes.insert(0, TOO_LONG.format(seconds=LONGEST_S, rest=rest))
    return found.model_copy(update={"notes": notes})


def _work(asking: Produced, tool: Tool, context: Context, foreseen: Foreseen) -> Produced:
    """The work of a call whose requests are noted."""
    meter = Meter(asking.id, tool.name, tool.plugin, asking.principal, foreseen=foreseen)
    owner = context.of_principal(asking.principal)
    return Produced(
        id=asking.id,
        tool=tool.name,
        context=owner.of_call(meter, None),
        principal=asking.principal,
        report=silent,
        meter=meter,
    )


async def _try(
    tool: Tool, work: Produced, validated: Mapping[str, Any], foreseen: Foreseen
) -> bool:
    """Run the tool until it asks a model, or would change something; True when a budget ends it."""
    owner = contained(f"Tool {tool.name}", tool.plugin, work.context.log)
    try:
        with Previewing(), owner, PluginCode():
            await PluginCode.apart(tool.function, Call(work), **validated)
    except AnswerNeeded:
        pass
    except VrError as error:
        if not foreseen.estimated and error.category != PREVIEWED:
            raise
        return not foreseen.requests and error.category != PREVIEWED
    return False
