"""A server whose client is gone ends, whatever a call swallows; what was paid for is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from paid_work import paid_zoo, paying, recorded, rows
from plugin_zoo import Animal
from server_process import ServerProcess
from vr_testing import FakeGemini
from zoo_animals import START

STUBBORN = Animal(
    "stubborn",
    f"""{START}
import asyncio, time

async def pay_and_stay(call, rest):
    await call.services.models.generate("Mine?")
    call.progress(1, 2, "staying")
    while True:
        try:
            await rest()
        except BaseException:
            pass

async def block():
    time.sleep(0.1)

@tool(effects=READ_ONLY)
async def stubborn_stay(call: Call) -> Done:
    await pay_and_stay(call, asyncio.Event().wait)

@tool(effects=READ_ONLY, long=True)
async def stubborn_work(call: Call) -> Done:
    await pay_and_stay(call, asyncio.Event().wait)

@tool(effects=READ_ONLY)
async def stubborn_block(call: Call) -> Done:
    await pay_and_stay(call, block)

@hookimpl
def vr_tools():
    return [stubborn_stay, stubborn_work, stubborn_block]
""",
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("tool", ["stubborn_stay", "stubborn_work", "stubborn_block"])
def test_it_ends_without_a_call_that_swallows_its_cancellation(
    tool: str, tmp_path: Path, gemini: FakeGemini
) -> None:
    zoo = paid_zoo(tmp_path / "zoo").add(STUBBORN)
    environment = zoo.environment(**paying(gemini, VR_KERNEL__SERVE__DRAIN_S="0.5"))
    with ServerProcess(environment, zoo.work) as server:
        server.shake_hands("2025-06-18")
        assert not server.call("paid_once", question="Before?").get("isError")
        server.start("tools/call", name=tool, arguments={}, _meta={"progressToken": 1})
        assert server.process.stdout
        if tool == "stubborn_block":
            gemini.wait(lambda: gemini.bill.calls == 2)
        else:
            assert b"staying" in server.process.stdout.readline()
        code = server.hang_up()
    assert code == 0
    state = Path(environment["VR_STATE_DIR"])
    paid = "SELECT count(*) FROM attempt WHERE state = 'paid'"
    if tool != "stubborn_block":  # nothing runs any more beside a call that blocks the loop
        left = [path.name for path in state.glob("*-wal")]
        assert left == [], "not everything was closed"
        assert rows(state, "usage.db", paid) == [(2,)]
    assert len(recorded(state)) == 1
