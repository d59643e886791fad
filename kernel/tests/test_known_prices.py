"""Prices of models: whose list a call is booked by, and that an unknown one is said once."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager

import paid_plugin
import pytest
from paid_work import paying, rows
from vr_testing import FakeGemini, TrialKernel, open_kernel

KNOWN = "gemini/gemini-3.8-flash"
NEW = ("gemini/gemini-9", "gemini/gemini-10")
OWN = {"input": 7.0, "output": 31.0}


def asking(
    gemini: FakeGemini, models: list[str], prices: Mapping[str, object]
) -> AbstractAsyncContextManager[TrialKernel]:
    """A kernel that asks these models, with own prices of some."""
    settings = {"models.default": models, "models.prices": prices}
    return open_kernel({"paid": paid_plugin}, settings=settings, variables=paying(gemini))


@pytest.mark.parametrize("model", [KNOWN, NEW[0]])
async def test_a_call_is_booked_by_the_list_that_has_its_price(
    gemini: FakeGemini, model: str
) -> None:
    """By the user's own settings where these name the model, else by the dated list."""
    async with asking(gemini, [KNOWN], {model: OWN}) as kernel:
        await kernel.call("paid_ask", question="Why?")
        report = await kernel.call("infra_models")
        shown = {it.model: it.prices_of for it in report.models}
        state = kernel.config.paths.state
        booked = rows(state, "usage.db", "SELECT price_table, usd IS NULL FROM attempt")
    (table, unpriced), *_ = booked
    assert (table, unpriced) == (shown[KNOWN], 0)
    assert (table == "own settings") is (model == KNOWN)
    assert table[:2] in {"ow", "20"}


async def test_an_unknown_price_is_said_once_of_each_model(gemini: FakeGemini) -> None:
    """Later calls cost null as well, and do not say it again."""
    said = []
    async with asking(gemini, [NEW[0]], {}) as kernel:
        for number, model in enumerate((NEW[0], NEW[0], NEW[1], NEW[0], NEW[1])):
            kernel.services.models.roles.configuration.change(default=[model])
            outcome = await kernel.run("paid_ask", {"question": f"Why {number}?"})
            assert outcome.usage is not None
            assert outcome.usage.cost_usd is None
            said.append([note for note in outcome.notes if "price" in note])
        total = (await kernel.call("infra_usage")).total
    assert [len(notes) for notes in said] == [1, 0, 1, 0, 0]
    assert (NEW[0] in said[0][0], NEW[1] in said[2][0]) == (True, True)
    assert (total.cost_usd, total.unpriced) == (0.0, 5)
