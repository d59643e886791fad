"""Without room on the disk nothing is paid for."""

from __future__ import annotations

from typing import Any

import pytest
from full_disk import no_room
from vr_kernel import Code
from vr_kernel.testing import FakeGemini

LESS_THAN_IS_RESERVED = 1 << 20
PAID_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("paid_ask", {"question": "Why?"}),
    ("paid_once", {"question": "Why?"}),
    ("paid_batch", {"name": "many", "items": 3}),
    ("paid_stream", {"question": "Why?"}),
    ("paid_research", {"question": "Why?"}),
]


@pytest.mark.parametrize(("tool", "arguments"), PAID_CALLS)
async def test_without_room_nothing_is_paid_and_with_room_it_goes_on(
    tool: str,
    arguments: dict[str, Any],
    environ: dict[str, str],
    open_kernel: Any,
    gemini: FakeGemini,
) -> None:
    kernel = await open_kernel()
    with no_room(LESS_THAN_IS_RESERVED):  # every small row can still be written
        error = (await kernel.run(tool, arguments)).error
    assert error is not None
    assert (error.code, error.category) == (Code.UNAVAILABLE, "STATE_UNAVAILABLE")
    assert error.retryable
    assert environ["VR_STATE_DIR"] in error.message
    assert "vr clean" in error.hint
    assert gemini.requests == []
    assert (await kernel.run("infra_usage", {})).data["total"]["attempts"] == 0
    assert (await kernel.run(tool, arguments)).error is None


async def test_no_room_is_no_failure_of_the_model(open_kernel: Any, gemini: FakeGemini) -> None:
    kernel = await open_kernel()
    with no_room(LESS_THAN_IS_RESERVED):
        for number in range(6):
            assert (await kernel.run("paid_ask", {"question": f"{number}?"})).error is not None
    assert (await kernel.run("paid_ask", {"question": "Now?"})).error is None
    assert gemini.bill.calls == 1
