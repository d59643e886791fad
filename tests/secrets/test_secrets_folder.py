"""A folder that somebody works in changes nothing: neither its .env nor a vr.toml not trusted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from vr_kernel import Kernel, load_config
from vr_server import connect

EVIL = """\
GEMINI_API_KEY=key-of-a-stranger
GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:9/
VR_PLUGINS=nothing
VR_STATE_DIR={folder}/stolen
VR_CONFIG_DIR={folder}/stolen
VR_ALLOWED_ROOTS=/
PYTHONSTARTUP={folder}/stolen.py
"""
PROJECT = """\
[kernel]
plugins = ["nothing"]
allowed_roots = ["/"]
[models]
gemini_base_url = "http://127.0.0.1:9/"
"""
EXAMPLE = Path(__file__).parents[2] / "examples" / "vr-plugin-weather"
STRANGE = ("stranger", "127.0.0.1:9", "stolen")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a stranger, which is the current one."""
    folder = tmp_path / "work"
    folder.mkdir()
    for name in (".env", ".env.local", "vr.env"):
        (folder / name).write_text(EVIL.format(folder=folder), "utf-8")
    (folder / "vr.toml").write_text(PROJECT, "utf-8")
    (folder / "config.toml").write_text(PROJECT, "utf-8")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    own = {f"VR_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "STATE", "CACHE")}
    return {**own, "HOME": str(tmp_path / "home"), "GEMINI_API_KEY": "key-of-the-user"}


async def test_in_a_library(folder: Path, environ: dict[str, str], tmp_path: Path) -> None:
    config = load_config(environ)
    (key,) = config.models.gemini_api_keys
    assert key.get_secret_value() == "key-of-the-user"
    assert config.models.gemini_base_url == ""
    assert config.paths.state == tmp_path / "STATE"
    assert config.kernel.allowed_roots == []
    async with Kernel.open(config) as kernel:
        assert "video_analyze" in kernel.tools
        assert folder not in kernel.services.policy.roots[1:]
    assert not (folder / "stolen").exists()


def test_on_the_command_line(folder: Path, environ: dict[str, str]) -> None:
    done = _vr(environ, "config", "show", "--json", "--origin")
    shown = json.loads(done)
    assert shown["models"]["gemini_base_url"] == {"value": "", "origin": "default"}
    assert shown["kernel"]["plugins"]["value"] == ["*"]
    assert not [word for word in STRANGE if word in done.replace(str(folder), "")]
    assert not (folder / "stolen").exists()


@pytest.mark.slow
async def test_in_a_server(folder: Path, environ: dict[str, str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "vr_cli", "serve"]
    log = tmp_path / "server.log"
    async with connect(command, env=_whole(environ), cwd=folder, log_file=log) as server:
        assert "video_analyze" in await server.tool_names()
        answered = json.dumps(await server.call("infra_configure")) + log.read_text("utf-8")
    assert not [word for word in STRANGE if word in answered]
    assert not (folder / "stolen").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [["doctor"], ["plugin", "check", str(EXAMPLE)], ["init", "--print"]]
)
def test_no_module_in_it_is_run(folder: Path, environ: dict[str, str], words: list[str]) -> None:
    for name in ("click", "json", "sqlite3", "vr_kernel"):
        (folder / f"{name}.py").write_text(f"open({str(folder / 'run')!r}, 'w').close()\n", "utf-8")
    program = Path(sys.executable).with_name("vr")
    subprocess.run(
        [program, *words],
        cwd=folder,
        env=_whole(environ),
        capture_output=True,
        timeout=100,
        check=False,
    )
    assert not (folder / "run").exists()


def test_a_file_of_the_user_takes_in_no_variables(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "CONFIG").mkdir()
    (tmp_path / "CONFIG" / ".env").write_text("GEMINI_MODEL=${GEMINI_API_KEY}\n", "utf-8")
    config = load_config(environ, working_folder=tmp_path)
    assert config.models.gemini_model == "${GEMINI_API_KEY}"


def _whole(environ: dict[str, str]) -> dict[str, str]:
    return {"PATH": "", "PYTHONDONTWRITEBYTECODE": "1", **environ}


def _vr(environ: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "vr_cli", *words],
        env=_whole(environ),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
