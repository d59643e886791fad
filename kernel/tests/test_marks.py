"""Owners of jobs and bills, whatever the system's user is called, and whoever wrote the row."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_state import ledger_state
from pydantic import BaseModel
from vr_kernel import CALLS_OUT, READ_ONLY, Call, hookimpl, tool
from vr_kernel.jobs.jobs import JobLedger
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.state.sqlite.ledger import open_ledger
from vr_testing import FakeGemini, open_kernel

USER = "svc"
KNOWN = ("anna", "root", "owner", "token", USER)
TOKENS = st.sampled_from(KNOWN) | st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True)
FORMER = (st.sampled_from(KNOWN) | st.text(max_size=9)).filter(lambda t: not t.startswith("token:"))


@given(
    new=st.lists(TOKENS, max_size=4),
    former=st.lists(FORMER, max_size=4),
    asking=TOKENS.filter(lambda name: name != USER),
)
@settings(max_examples=10)
def test_no_token_reads_a_row_without_its_mark(
    new: list[str], former: list[str], asking: str
) -> None:
    """Rows of this version, and rows that bear a bare name as versions before left them."""
    with TemporaryDirectory() as folder, closing(open_ledger(Path(folder) / "jobs.db")) as ledger:
        state = ledger_state(ledger, lease_s=20, owner=USER)
        jobs = JobLedger(state, LedgerLeases(state))
        whose = {f"{number:032x}": who for number, who in enumerate(new + former)}
        bare = [(who, job_id) for job_id, who in list(whose.items())[len(new) :]]

        async def listed() -> tuple[set[str], set[str]]:
            for job_id, who in whose.items():
                about: dict[str, Any] = {"tool": "t", "arguments": {}, "workspace": "default"}
                await jobs.table.create(id=job_id, principal=who, **about)
            change = "UPDATE job SET principal = ? WHERE id = ?"
            await ledger.run(lambda file: file.executemany(change, bare))
            theirs = await jobs.table.list(asking)
            assert {job.principal for job in theirs} <= {asking}
            return {job.id for job in theirs}, {job.id for job in await jobs.table.list(USER)}

        theirs, owners = asyncio.run(listed())
    written = list(whose.items())[: len(new)]
    assert theirs == {job_id for job_id, who in written if who == asking}
    assert owners == {job_id for job_id, who in written if who == USER} | {j for _, j in bare}


class Said(BaseModel):
    """Result of a tool."""

    text: str


@tool(effects=CALLS_OUT)
async def mark_ask(call: Call) -> Said:
    """Ask a model."""
    return Said(text=(await call.services.models.generate(["Hello?"])).text)


def plugin_of(*, waits: bool, waiting: asyncio.Event) -> object:
    """A plugin whose one job waits, or is done at once."""

    @tool(effects=READ_ONLY, long=True)
    async def mark_wait(call: Call) -> Said:
        """Wait."""
        await call.step("once", _nothing)
        waiting.set()
        if waits:
            await asyncio.Event().wait()
        return Said(text=call.workspace)

    return SimpleNamespace(vr_tools=hookimpl(lambda: [mark_ask, mark_wait]))


async def _nothing() -> bool:
    return True


async def test_a_token_of_the_former_users_name_has_nothing_of_the_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = asyncio.Event()
    with FakeGemini() as gemini:
        options: dict[str, Any] = {
            "folder": tmp_path,
            "variables": {"GEMINI_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": gemini.url},
            # The widest case: the token shares the owner's own workspace.
            "settings": {
                "kernel.serve.tokens": ["root:a-secret-of-enough-letters"],
                "kernel.serve.shared_workspaces": ["default"],
                "kernel.serve.workspaces": {"root": "default"},
            },
        }
        monkeypatch.setenv("LOGNAME", "root")
        patient = {"mark": plugin_of(waits=True, waiting=waiting)}
        async with open_kernel(patient, **{**options, "settings": {}}) as kernel:
            job_id = kernel.start("mark_wait", {}).id
            await waiting.wait()
            assert (await kernel.run("mark_ask", {})).error is None
        monkeypatch.setenv("LOGNAME", "svc")
        plugins = {"mark": plugin_of(waits=False, waiting=waiting)}
        async with open_kernel(plugins, **options) as kernel:
            for tool_name, listed in (("job_list", "jobs"), ("infra_usage", "rows")):
                theirs = await kernel.run(tool_name, {}, principal="root")
                assert (theirs.error, theirs.data[listed]) == (None, [])
                assert len((await kernel.run(tool_name, {})).data[listed]) == 1
            unknown = await kernel.run("job_result", {"job_id": job_id}, principal="root")
            assert unknown.error is not None
            assert unknown.error.category == "JOB_UNKNOWN"
            ended = await kernel.run("job_result", {"job_id": job_id})
            assert (ended.data["state"], ended.data["result"]["text"]) == ("done", "default")
