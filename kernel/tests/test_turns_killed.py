"""Turns and named calls of a process that is killed: the same ids go on, and pay nothing again."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from paid_work import ASKED, LEASE_S, asked, paying, recorded, rows
from vr_testing import FakeGemini, Fault
from waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
PROGRAM = """
import asyncio, json, sys
import paid_plugin
from vr_kernel import Kernel, Record, load_config

async def turn(kernel):
    async with kernel.turn("paid", "chat", "one") as call:
        texts = [(await call.services.models.generate(f"item {it}")).text for it in range(3)]
        call.record(*(Record("PaidAnswers", {"text": text}) for text in texts))
        return texts

async def call(kernel):
    given = {"name": "job", "items": 3, "at_once": 1}
    outcome = await kernel.run("paid_batch", given, call_id="turn 1, call 1")
    return outcome.data["texts"]

async def main():
    async with Kernel.open(load_config(), {"paid": paid_plugin}, roots=[]) as kernel:
        print(json.dumps(await globals()[sys.argv[1]](kernel)))

asyncio.run(main())
"""


@pytest.fixture
def variables(environ: dict[str, str], gemini: FakeGemini) -> dict[str, str]:
    support = Path(__file__).parents[2] / "tests" / "support"
    return {**environ, **paying(gemini), "PYTHONPATH": str(support)}


@contextmanager
def running(variables: dict[str, str], what: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", PROGRAM, what]
    with subprocess.Popen(
        command, env=variables, stdout=subprocess.PIPE, text=True, cwd=variables["HOME"]
    ) as process:
        yield process


@pytest.mark.parametrize("what", ["turn", "call"])
@pytest.mark.parametrize("paid", [0, 2])
async def test_what_was_paid_before_the_kill_is_found(
    what: str, paid: int, variables: dict[str, str], gemini: FakeGemini
) -> None:
    gemini.fail(Fault.hang(), when=lambda _: len(gemini.requests_of(ASKED)) > paid, times=None)
    with running(variables, what) as process:
        await until(lambda: gemini.in_flight and len(gemini.requests_of(ASKED)) > paid)
        process.kill()
    gemini.heal()
    with running(variables, what) as process:
        said, _ = await asyncio.to_thread(process.communicate, timeout=30 * LEASE_S)
    assert process.returncode == 0
    counts = list(asked(gemini).values())
    assert counts == [1 if index != paid else 2 for index in range(3)]
    assert len(json.loads(said)) == len(recorded(variables["VR_STATE_DIR"])) == 3
    left = "SELECT key FROM step WHERE scope LIKE 'turn/%' UNION SELECT name FROM lease"
    assert rows(variables["VR_STATE_DIR"], "jobs.db", left) == []
