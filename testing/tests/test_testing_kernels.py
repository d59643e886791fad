"""The kit's kernels read nothing of this machine, and show what a call did."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field
from vr_kernel import (
    READ_ONLY,
    Call,
    Code,
    Query,
    Record,
    RecordField,
    RecordKind,
    Section,
    VrError,
    hookimpl,
    tool,
)
from vr_testing import LogLine, Progress, open_kernel

TEAS = RecordKind(
    "Teas", "Teas.", (RecordField("name", searchable=True, vectorised=True),), rerank="name"
)


class TeaSettings(Section):
    cups: int = 1


class Tea(BaseModel):
    name: str
    cups: int


@tool(effects=READ_ONLY)
async def tea_brew(call: Call, name: Annotated[str, Field(max_length=20)]) -> Tea:
    """Brew a tea."""
    call.progress(1, 2, "water")
    call.log.debug("boils", degrees=100)
    call.record(Record("Teas", {"name": name}))
    call.artifact(name.encode(), "text/plain")
    call.note("It is hot.")
    if name == "coffee":
        raise VrError("That is no tea.", Code.UNSUPPORTED, hint="Ask for a tea.")
    if name == "spilt":
        raise RuntimeError("the cup fell")
    call.progress(2, 2)
    return Tea(name=name, cups=call.settings.cups)


@hookimpl
def vr_tools() -> list[Any]:
    return [tea_brew]


@hookimpl
def vr_settings() -> type[Section]:
    return TeaSettings


@hookimpl
def vr_record_kinds() -> list[RecordKind]:
    return [TEAS]


TEA = {
    "tea": SimpleNamespace(
        vr_tools=vr_tools, vr_settings=vr_settings, vr_record_kinds=vr_record_kinds
    )
}


async def test_only_the_given_plugins_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VR_TEA__CUPS", "7")
    monkeypatch.setenv("VR_PLUGINS", "nothing")
    async with open_kernel(TEA) as kernel:
        assert {status.name for status in kernel.plugins()} == {"infra", "memory", "tea"}
        assert (await kernel.call("tea_brew", name="oolong")).model_dump()["cups"] == 1
        folder = kernel.config.paths.state.parent
        assert folder not in Path.home().parents
        assert (folder / "state" / "journal.db").exists()
    assert not folder.exists()


async def test_settings_and_variables_configure_it() -> None:
    async with open_kernel(TEA, variables={"VR_TEA__CUPS": "3"}) as kernel:
        assert (await kernel.record("tea_brew", name="oolong")).data["cups"] == 3
    async with open_kernel(TEA, settings={"plugins.tea.cups": 2}) as kernel:
        assert (await kernel.record("tea_brew", name="oolong")).data["cups"] == 2
    with pytest.raises(VrError, match="cupz"):
        async with open_kernel(TEA, settings={"plugins.tea.cupz": 2}):
            pass


async def test_a_faulty_plugin_raises() -> None:
    with pytest.raises(VrError) as caught:
        async with open_kernel({"tea": SimpleNamespace(vr_tools=hookimpl(lambda: [42]))}):
            pass
    assert caught.value.category == "PLUGIN_REFUSED"


async def test_a_folder_outlives_its_kernel(tmp_path: Path) -> None:
    async with open_kernel(TEA, folder=tmp_path) as first:
        await first.call("tea_brew", name="green sencha")
    async with open_kernel(TEA, folder=tmp_path) as second:
        await second.services.store.catch_up()
        (hit,) = await second.services.store.search(Query("sencha", mode="keyword"))
        assert hit.record.fields["name"] == "green sencha"


async def test_what_a_call_did_is_recorded() -> None:
    async with open_kernel(TEA) as kernel:
        await kernel.call("tea_brew", name="first")
        call = await kernel.record("tea_brew", name="oolong")
    assert (call.result, call.error) == (Tea(name="oolong", cups=1), None)
    assert call.data == {"name": "oolong", "cups": 1}
    assert call.progress == (Progress(1, 2, "water"), Progress(2, 2, ""))
    (record,) = call.records
    assert (record.kind, (record.fields or {})["name"]) == ("Teas", "oolong")
    (artifact,) = call.artifacts
    assert (artifact.mime, artifact.size) == ("text/plain", 6)
    assert call.notes == ("It is hot.",)
    assert call.usage is None
    assert LogLine("debug", "boils", {"plugin": "tea", "degrees": 100}) in call.log


async def test_an_error_is_part_of_what_is_recorded() -> None:
    async with open_kernel(TEA) as kernel:
        refused = await kernel.record("tea_brew", name="coffee")
        invalid = await kernel.record("tea_brew", name="a" * 21)
        crashed = await kernel.record("tea_brew", name="spilt")
        with pytest.raises(VrError, match="tea_bru"):
            await kernel.record("tea_bru")
    assert refused.error is not None
    assert refused.error.code is Code.UNSUPPORTED
    assert (refused.result, refused.records) == (None, ())
    assert invalid.error is not None
    assert (invalid.error.code, invalid.progress) == (Code.INVALID_INPUT, ())
    assert crashed.error is not None
    assert crashed.error.code is Code.INTERNAL
    (line,) = [line for line in crashed.log if line.exception]
    assert (line.level, str(line.exception)) == ("error", "the cup fell")


async def test_a_client_sees_schemas_results_and_errors() -> None:
    async with open_kernel(TEA) as kernel, kernel.connect() as client:
        told = (await client.tools())["tea_brew"]
        assert told["inputSchema"]["properties"]["name"]["maxLength"] == 20
        assert set(told["outputSchema"]["properties"]) == {"name", "cups"}
        assert (await client.call("tea_brew", name="oolong"))["cups"] == 1
        with pytest.raises(VrError) as caught:
            await client.call("tea_brew", name="coffee")
        assert (caught.value.code, caught.value.hint) == (Code.UNSUPPORTED, "Ask for a tea.")


WITHOUT_SERVER = """
import asyncio, sys
for name in ("vr_server", "vr_cli", "fastmcp", "mcp", "starlette", "uvicorn", "click", "rich"):
    sys.modules[name] = None
import vr_testing
for name in vr_testing.__all__:
    getattr(vr_testing, name)
from vr_kernel import VrError

async def main():
    async with vr_testing.open_kernel({}) as kernel:
        assert (await kernel.record("job_list")).result is not None
        try:
            kernel.connect()
        except VrError as error:
            print(error.category, error.hint)

asyncio.run(main())
"""


def test_kernel_opens_without_a_server_and_names_the_extra(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_SERVER],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    hint = "EXTRA_MISSING Install it: pip install 'vr-testing[server]'."
    assert done.stdout.strip() == hint, done.stderr


OPTIONS = ("-W", "error", "-o", "asyncio_default_fixture_loop_scope=function")
TESTS = """
import os
from pathlib import Path
import pytest
from vr_kernel import load_config

pytestmark = pytest.mark.asyncio

async def test_variables_and_folders(open_kernel, tmp_path):
    assert not [n for n in os.environ if n.startswith(("GEMINI_", "VR_FOREIGN"))]
    assert Path.home() == tmp_path
    assert load_config().paths.state == tmp_path / "state"
    first, second = await open_kernel(), await open_kernel({}, settings={"models.attempts": 1})
    assert first.config.paths == second.config.paths
    assert second.config.models.attempts == 1

async def test_client(client, kernel, vr_plugins):
    assert set(await client.tool_names()) == set(kernel.tools)
    assert vr_plugins == {}
"""


@pytest.mark.slow  # starts a pytest of its own
@pytest.mark.parametrize("conftest", ["", 'pytest_plugins = ["vr_testing.fixtures"]\n'])
def test_fixtures_isolate_a_test_in_any_mode(conftest: str, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(conftest, "utf-8")
    (tmp_path / "test_it.py").write_text(TESTS, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *OPTIONS],
        cwd=tmp_path,
        env={**os.environ, "GEMINI_API_KEY": "secret", "VR_FOREIGN__X": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr
