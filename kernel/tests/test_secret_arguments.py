"""An argument that is a secret reaches the tool, and is kept nowhere."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

from pydantic import BaseModel, Field, SecretStr
from vr_kernel import READ_ONLY, Call, hookimpl, tool
from vr_testing import open_kernel

PASSWORD = "opensesame-quokka"


class Opened(BaseModel):
    """The length of the password that arrived."""

    length: int


@tool(effects=READ_ONLY, long=True)
async def door_open(
    call: Call,
    door: str,
    password: Annotated[SecretStr | None, Field(description="Of the door")] = None,
) -> Opened:
    """Open a door."""
    given = password.get_secret_value() if password else ""

    async def work() -> int:
        return len(given)

    return Opened(length=await call.step("open", work))


async def test_a_password_is_not_written_into_the_ledger_of_jobs(tmp_path: Path) -> None:
    @hookimpl
    def vr_tools() -> list[object]:
        return [door_open]

    async with open_kernel({"door": SimpleNamespace(vr_tools=vr_tools)}, folder=tmp_path) as kernel:
        given = {"door": "front-door", "password": PASSWORD}
        job_id = await kernel.services.jobs.begin(
            "door_open", given, kernel.services.identity.principal
        )
        job = await kernel.services.jobs.wait(job_id, kernel.services.identity.principal, 20)
        assert (job.result or {})["result"] == {"length": len(PASSWORD)}
        assert job.arguments == {"door": "front-door"}
    kept = contents(tmp_path)
    assert any(b"front-door" in content for content in kept)
    assert not any(PASSWORD.encode() in content for content in kept)


def contents(folder: Path) -> list[bytes]:
    """The bytes of all files below a folder."""
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
