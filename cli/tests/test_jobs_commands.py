"""Long tools on the command line: waited for, interrupted, killed, and gone on with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from paid_work import ASKED, LEASE_S, PAID_STEP, asked, paid_zoo, paying, rows
from plugin_zoo import Animal, Zoo, vr_command
from vr_testing import FakeGemini, Fault

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="signals of POSIX"),
]
TWICE = """
from pydantic import BaseModel
from vr_kernel import CALLS_OUT, READ_ONLY, Call, cache_key, hookimpl, tool

class Both(BaseModel):
    texts: list[str]

@tool(effects=READ_ONLY | CALLS_OUT, long=True)
async def twice_ask(call: Call, question: str) -> Both:
    \"\"\"Ask twice what nobody asked before.\"\"\"
    async def produce(shared: Call) -> Both:
        models = shared.services.models
        return Both(texts=[(await models.generate(f"{question} {n}")).text for n in (1, 2)])
    return await call.once(cache_key(question=question), Both, produce)

@hookimpl
def vr_tools():
    return [twice_ask]
"""


@pytest.fixture
def zoo(tmp_path: Path) -> Zoo:
    """The paid plugin, and one that pays twice for one result."""
    return paid_zoo(tmp_path / "zoo").add(Animal("twice", TWICE))


class Shell:
    """Runs `vr`."""

    def __init__(self, zoo: Zoo, gemini: FakeGemini) -> None:
        self.zoo = zoo
        self.environment = zoo.environment(**paying(gemini))

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `vr` with these arguments."""
        return subprocess.Popen(
            vr_command(*arguments, "--json"),
            env=self.environment,
            cwd=self.zoo.work,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, code: int = 0) -> Any:
        """Run `vr`, whose exit code must be `code`; its result."""
        with self.start(*arguments) as process:
            said, errors = process.communicate(timeout=60)
            assert process.returncode == code, errors
        return json.loads(said)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of the ledger of jobs."""
        return rows(self.zoo.folder / "state", "jobs.db", query)


@pytest.fixture
def shell(zoo: Zoo, gemini: FakeGemini) -> Shell:
    """Runs `vr` in the zoo."""
    return Shell(zoo, gemini)


def end(process: subprocess.Popen[str], number: int) -> tuple[int, str]:
    """Send a signal: exit code, and what was said on stderr."""
    process.send_signal(number)
    with process:
        _, errors = process.communicate(timeout=20)
    return process.returncode, errors


def test_a_long_tool_is_waited_for(shell: Shell, gemini: FakeGemini) -> None:
    gemini.latency = 0.1
    batch = shell.run("paid", "batch", "cli", "--items", "6", "--at-once", "2")
    assert batch["texts"] == [f"A fake answer to: cli item {number}" for number in range(6)]
    assert batch["usage"]["calls"] == 6
    (job,) = shell.run("job", "list")["jobs"]
    assert (job["state"], job["tool"]) == ("done", "paid_batch")
    assert shell.run("job", "result", job["job_id"])["result"] == batch


def test_an_interrupt_cancels(shell: Shell, gemini: FakeGemini) -> None:
    with gemini.hold():
        process = shell.start("paid", "batch", "interrupted", "--items", "3")
        gemini.wait(lambda: gemini.in_flight == 3, timeout=20)
        code, errors = end(process, signal.SIGINT)
        assert (code, "Interrupted." in errors) == (130, True)
        gemini.wait(lambda: gemini.cancelled == 3)
    assert shell.rows("SELECT state FROM job") == [("cancelled",)]
    assert shell.rows("SELECT * FROM step") == shell.rows("SELECT * FROM lease") == []


def test_a_killed_batch_is_gone_on_with(shell: Shell, gemini: FakeGemini) -> None:
    gemini.latency = 0.1
    process = shell.start("paid", "batch", "killed", "--items", "12", "--at-once", "1")
    gemini.wait(lambda: len(gemini.requests_of(ASKED)) >= 5, timeout=20)
    end(process, signal.SIGKILL)
    gemini.latency = 0
    committed = len(shell.rows(f"SELECT 1 FROM step WHERE {PAID_STEP}"))
    assert committed >= 4
    ((job_id,),) = shell.rows("SELECT id FROM job")
    time.sleep(LEASE_S)  # that long the dead one counts as living
    ended = shell.run("job", "result", job_id, "--wait-s", "30")
    assert ended["state"] == "done"
    assert len(ended["result"]["texts"]) == 12
    repeated = [text for text, times in asked(gemini).items() if times > 1]
    assert repeated in ([], [f"killed item {committed}"])


def test_a_killed_command_is_not_paid_again(shell: Shell, gemini: FakeGemini) -> None:
    gemini.fail(Fault.hang(), when=lambda request: request.text == "why 2")
    process = shell.start("twice", "ask", "why")
    gemini.wait(lambda: len(gemini.requests_of(ASKED)) == 2, timeout=20)
    end(process, signal.SIGKILL)
    both = shell.run("twice", "ask", "why")
    assert both["texts"] == ["A fake answer to: why 1", "A fake answer to: why 2"]
    assert asked(gemini)["why 1"] == 1
    assert asked(gemini)["why 2"] == 2


def test_jobs_that_there_are_not(shell: Shell) -> None:
    assert shell.run("job", "status", "0" * 32, code=1)["error"]["category"] == "JOB_UNKNOWN"
    assert shell.run("job", "result", "what", code=1)["error"]["category"] == "ID_UNKNOWN"
    assert shell.run("job", "result", "z" * 32, code=2)["error"]["category"] == "JOB_ID_INVALID"
