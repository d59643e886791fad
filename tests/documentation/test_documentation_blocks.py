"""Every block of code of every page: run as it stands, or read by what reads it."""

from __future__ import annotations

import ast
import inspect
import json
import shutil
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml
from fences import PAGES, Block, blocks
from installation import REPOSITORY, Sandbox
from pydantic import BaseModel
from session import run_console
from vr_cli.inspection.import_checks import check_imports
from vr_cli.inspection.inspector import Inspector
from vr_cli.scaffold import make_project
from vr_kernel import CALLS_OUT, Call, Kernel, hookimpl, load_config, tool

NOT_RUN = Counter(
    {
        "each is a step of the workflow": 1,
        "needs Claude Code": 1,
        "needs Docker": 3,
        "needs a released file": 1,
        "takes the released packages from the index": 1,
        "downloads a model": 2,
        "needs a model on a disk": 1,
        "needs a package index": 1,
        "needs the published weights": 1,
        "installs a program on the machine": 1,
        "needs YouTube": 2,
        "needs a Weaviate server": 2,
        "needs a lost journal": 2,
        "needs another installation": 1,
        "needs the program sqlite3": 1,
        "needs a folder of videos": 1,
        "needs a long video and a key": 1,
        "needs a key": 5,
        "needs services on the web": 3,
        "needs a recorded report": 3,
        "is a part of a tool": 1,
        "installs": 1,
        "needs a folder and the network": 1,
        "downloads packages": 2,
        "needs a key of Gemini": 1,
        "changes the environment": 1,
        "needs a collector": 1,
        "needs an MLflow server": 1,
    }
)
LANGUAGES = {"console", "python", "json", "toml", "yaml", "text", "mermaid"}
"""`text` is what is no code: output, usage, a picture."""
PROGRAMS = {"vr", "video-research"}
SECTIONS = {"kernel", "models", "plugins", "store"}
NEEDS_A_CALL = "docs/explanation/fetching.md"
TALKING = sorted(n for n, p in PAGES.items() if any(b.language == "console" for b in blocks(p)))
SPEAKING = sorted(
    name
    for name, page in PAGES.items()
    if name not in {*TALKING, NEEDS_A_CALL} and any(b.is_run for b in blocks(page))
)
each_page = pytest.mark.parametrize("name", PAGES)


def test_what_is_not_run_is_known_with_its_reason() -> None:
    reasons = (b.reason for page in PAGES.values() for b in blocks(page) if b.mark == "not run")
    assert Counter(reasons) == NOT_RUN


@each_page
def test_a_block_says_what_it_is(name: str) -> None:
    for block in blocks(PAGES[name]):
        assert block.language in LANGUAGES, f"{name}:{block.line}"
        assert not block.mark or block.language in {"console", "python"}, f"{name}:{block.line}"


@each_page
def test_data_is_read_by_what_reads_it(name: str, tmp_path: Path) -> None:
    for block in blocks(PAGES[name]):
        match block.language:
            case "json":
                check_clients(json.loads(block.text))
            case "toml":
                check_toml(block.text, tmp_path)
            case "yaml":
                check_yaml(block)


@each_page
def test_python_imports_public_names(name: str, tmp_path: Path) -> None:
    for block in blocks(PAGES[name]):
        if block.language == "python":
            (tmp_path / "page.py").write_text(block.text, "utf-8")
            private = [found.what for _, found in check_imports("page", tmp_path) if found.fix]
            assert private == [], f"{name}:{block.line}"


def test_the_page_on_publishing_has_every_check_of_a_plugin(tmp_path: Path) -> None:
    page = PAGES["docs/how-to/publish-a-plugin.md"].read_text("utf-8")
    environ = {f"VR_{n}_DIR": str(tmp_path / n) for n in FOLDERS}
    project = make_project("sky", tmp_path)
    (inspection,) = Inspector(load_config(environ)).inspect(str(project))
    checks = {check for check, _ in inspection.findings}
    assert "public names" in checks
    assert [check for check in checks if f"\n| `{check}` |" not in page] == []


@pytest.mark.parametrize("name", SPEAKING)
async def test_the_python_of_a_page_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(tmp_path, {f"VR_{n}_DIR": str(tmp_path / n) for n in FOLDERS}, monkeypatch)
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks(PAGES[name]):
        if block.is_run:
            await run_python(block, name, names)


async def test_the_calls_of_the_page_on_fetching_work(tmp_path: Path) -> None:
    @tool(effects=CALLS_OUT)
    async def pages_read(call: Call, url: str) -> Done:
        """Run the page's python."""
        with (tmp_path / "download").open("wb") as file:
            names = {"__name__": "page", "call": call, "url": url, "file": file}
            for block in blocks(PAGES[NEEDS_A_CALL]):
                if block.is_run:
                    await run_python(block, NEEDS_A_CALL, names)
        return Done()

    class Plugin:
        @hookimpl
        def vr_tools(self) -> list[Any]:
            return [pages_read]

    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    Thread(target=server.serve_forever, daemon=True).start()
    environ = {f"VR_{n}_DIR": str(tmp_path / n) for n in FOLDERS}
    environ["VR_KERNEL__HTTP__ALLOWED_HOSTS"] = f"localhost:{server.server_port}"
    try:
        async with Kernel.open(load_config(environ), {"pages": Plugin()}) as kernel:
            await kernel.call("pages_read", url=f"http://localhost:{server.server_port}/")
    finally:
        server.shutdown()
        server.server_close()
    assert (tmp_path / "download").read_bytes() == Pages.body


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", TALKING)
async def test_a_page_works_as_written(
    name: str,
    tmp_path: Path,
    talk: Path,
    speech_model: Path,
    sandbox: Sandbox,
    fresh_environment: Callable[..., dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    environment = sandbox.environment(fresh_environment(VR_VIDEO__SPEECH_MODEL=str(speech_model)))
    work = prepare(tmp_path / "work", talk, sandbox, PAGES[name])
    if name == "docs/how-to/publish-a-plugin.md":
        run_console(NEW_PLUGIN, work, environment)
        work /= "vr-plugin-tides"
    enter(work, environment, monkeypatch)
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks(PAGES[name]):
        if block.title:
            target = work / block.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, "utf-8")
        elif block.is_run and block.language == "python":
            await run_python(block, name, names)
        elif block.is_run:
            run_console(block, work, environment)


FOLDERS = ("CONFIG", "STATE", "CACHE")
NEW_PLUGIN = Block(
    0, "console", "", '$ vr plugin new tides\n$ pip install -e "./vr-plugin-tides[dev]"\n', "", ""
)


class Done(BaseModel):
    """The blocks were run."""


class Pages(BaseHTTPRequestHandler):
    body = b"<p>Words.</p>"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *args: object) -> None:
        """Keep quiet."""


def prepare(work: Path, talk: Path, sandbox: Sandbox, page: Path) -> Path:
    """A folder with a talk and what a page takes from a clone; its uv installs as pip does."""
    work.mkdir()
    shutil.copy(talk, work)
    if any("examples/" in block.text for block in blocks(page)):
        shutil.copytree(REPOSITORY / "examples", work / "examples")
    (work / ".venv").symlink_to(sandbox.folder)
    uv = sandbox.folder / "bin" / "uv"
    uv.write_text('#!/bin/sh\nshift; exec pip "$@"\n', "utf-8")
    uv.chmod(0o755)
    return work


def enter(work: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this process one that was started in a folder with an environment."""
    monkeypatch.chdir(work)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)


async def run_python(block: Block, name: str, names: dict[str, Any]) -> None:
    """Run a block among the names of those before it; it may await."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    code = compile(block.text, f"{name}:{block.line}", "exec", flags, dont_inherit=True)
    result = eval(code, names)
    if inspect.iscoroutine(result):
        await result


def check_toml(text: str, folder: Path) -> None:
    """Settings are such that the program takes them; all other tables are TOML."""
    table = tomllib.loads(text)
    check_clients(table)
    if not SECTIONS.isdisjoint(table):
        (folder / "CONFIG").mkdir(exist_ok=True)
        (folder / "CONFIG" / "config.toml").write_text(text, "utf-8")
        environ = {f"VR_{name}_DIR": str(folder / name) for name in FOLDERS}
        kernel = Kernel(load_config(environ | {"VR_STRICT": "1"}))
        assert all(status.fine for status in kernel.plugins())


def check_yaml(block: Block) -> None:
    """A workflow has steps that do something."""
    value = yaml.safe_load(block.text)
    if block.title.startswith(".github/workflows/"):
        assert value[True]  # YAML 1.1 reads the key `on` as true
        for job in value["jobs"].values():
            assert all({"uses", "run"} & step.keys() for step in job["steps"])


def check_clients(value: Any) -> None:
    """A client starts a program that exists, with a command that it has."""
    from vr_cli.own_commands import OWN

    for server in servers(value):
        words = [Path(server["command"]).name, *server["args"]]
        program = max(i for i, word in enumerate(words) if word in PROGRAMS)
        assert set(words[program + 1 : program + 2]) <= OWN.keys()


def servers(value: Any) -> Iterator[dict[str, Any]]:
    """Everything in a client's configuration that names a program."""
    if isinstance(value, dict):
        if "command" in value:
            yield value
        for part in value.values():
            yield from servers(part)
