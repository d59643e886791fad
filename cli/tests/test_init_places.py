"""Places of clients' files on each system, and the commands that start the server."""

from __future__ import annotations

import sys
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

import pytest
from vr_cli.onboarding.answers import home_folder
from vr_cli.onboarding.clients import CLIENTS, NAMES, Client, Machine, choose_clients
from vr_cli.onboarding.launch import Launch, entry_of, find_launch, is_ephemeral
from vr_kernel.errors import Code, VrError

HERE = Launch("/opt/vr", ("serve",), {})
WINDOWS = PureWindowsPath("D:\\me")
ROAMING = "D:\\me\\AppData\\Roaming"
MAC = "/me/Library/Application Support"
FILES = {
    "claude-code": ("/me/.claude.json", "/me/.claude.json", "D:\\me\\.claude.json"),
    "claude-desktop": (
        "/me/.config/Claude/claude_desktop_config.json",
        f"{MAC}/Claude/claude_desktop_config.json",
        f"{ROAMING}\\Claude\\claude_desktop_config.json",
    ),
    "cursor": ("/me/.cursor/mcp.json", "/me/.cursor/mcp.json", "D:\\me\\.cursor\\mcp.json"),
    "vscode": (
        "/me/.config/Code/User/mcp.json",
        f"{MAC}/Code/User/mcp.json",
        f"{ROAMING}\\Code\\User\\mcp.json",
    ),
    "gemini-cli": (
        "/me/.gemini/settings.json",
        "/me/.gemini/settings.json",
        "D:\\me\\.gemini\\settings.json",
    ),
    "windsurf": (
        "/me/.codeium/windsurf/mcp_config.json",
        "/me/.codeium/windsurf/mcp_config.json",
        "D:\\me\\.codeium\\windsurf\\mcp_config.json",
    ),
    "codex": ("/me/.codex/config.toml", "/me/.codex/config.toml", "D:\\me\\.codex\\config.toml"),
}
MOVED = {
    "claude-code": ("CLAUDE_CONFIG_DIR", "/other/.claude.json"),
    "vscode": ("XDG_CONFIG_HOME", "/other/Code/User/mcp.json"),
    "codex": ("CODEX_HOME", "/other/config.toml"),
}


def client(name: str) -> Client:
    """The client of that name."""
    return next(client for client in CLIENTS if client.name == name)


@pytest.mark.parametrize("name", NAMES)
def test_each_system_has_its_place(name: str) -> None:
    linux, mac, windows = FILES[name]
    home = PurePosixPath("/me")
    assert client(name).file(Machine("linux", home)) == PurePosixPath(linux)
    assert client(name).file(Machine("darwin", home)) == PurePosixPath(mac)
    assert client(name).file(Machine("win32", WINDOWS)) == PureWindowsPath(windows)


@pytest.mark.parametrize("name", MOVED)
def test_a_variable_moves_the_file(name: str) -> None:
    variable, file = MOVED[name]
    machine = Machine("linux", PurePosixPath("/me"), {variable: "/other"})
    assert client(name).file(machine) == PurePosixPath(file)
    unset = Machine("linux", PurePosixPath("/me"), {variable: ""})
    assert str(client(name).file(unset)).startswith("/me/")


def test_the_roaming_folder_of_windows_is_a_variable() -> None:
    machine = Machine("win32", WINDOWS, {"APPDATA": "E:\\roaming"})
    assert str(client("vscode").file(machine)) == "E:\\roaming\\Code\\User\\mcp.json"


@pytest.mark.skipif(sys.platform == "win32", reason="the user database of POSIX")
@pytest.mark.parametrize("environ", [{}, {"HOME": ""}])
def test_without_a_variable_the_system_knows_home(environ: dict[str, str]) -> None:
    home = home_folder(environ)
    assert home.is_absolute()
    assert home_folder({"HOME": "/me"}) == Path("/me")


def test_all_means_the_installed_ones(tmp_path: Path) -> None:
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".claude.json").touch()
    machine = Machine("linux", tmp_path)
    chosen = choose_clients(["all", "codex"], machine, project=False)
    assert [it.name for it in chosen] == ["claude-code", "cursor", "codex"]


@pytest.mark.parametrize(
    ("name", "code", "hint"),
    [("cursro", Code.INVALID_INPUT, "'cursor'"), ("all", Code.NOT_FOUND, "claude-code")],
)
def test_no_such_client(name: str, code: Code, hint: str, tmp_path: Path) -> None:
    with pytest.raises(VrError) as caught:
        choose_clients([name], Machine("linux", tmp_path), project=False)
    assert caught.value.code is code
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("prefix", "ephemeral"),
    [
        (PurePosixPath("/me/.cache/uv/archive-v0/MYMprOQl"), True),
        (PurePosixPath("/me/.cache/uv/environments-v2/x"), True),
        (PureWindowsPath("D:\\uv\\cache\\archive-v0\\x"), True),
        (PurePosixPath("/me/.local/share/uv/tools/video-research"), False),
        (PurePosixPath("/me/project/.venv"), False),
    ],
)
def test_an_environment_of_uvx_is_no_place_to_stay(prefix: PurePath, ephemeral: bool) -> None:
    assert is_ephemeral(prefix) is ephemeral


@pytest.mark.skipif(sys.platform == "win32", reason="a script of POSIX")
def test_uvx_starts_what_uvx_runs(tmp_path: Path) -> None:
    uvx = tmp_path / "uvx"
    uvx.write_text("#!/bin/sh\n")
    uvx.chmod(0o755)
    variables = {"UV": str(tmp_path / "uv"), "VR_STATE_DIR": str(tmp_path)}
    launch = find_launch("x", "python", "/c/uv/archive-v0/x", variables)
    assert launch.command == str(uvx)
    assert launch.arguments == ("video-research", "serve")
    assert launch.variables == {"VR_STATE_DIR": str(tmp_path)}


@pytest.mark.skipif(sys.platform == "win32", reason="a script of POSIX")
def test_the_link_that_was_run_is_written_not_what_it_leads_to(tmp_path: Path) -> None:
    script = tmp_path / "tool" / "vr"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    link = tmp_path / "vr"
    link.symlink_to(script)
    assert find_launch(str(link), "python", "/me/.venv", {}).command == str(link)


def test_an_entry_keeps_what_the_user_added() -> None:
    mine = {
        "command": "/old/vr",
        "args": ["serve", "--toolsets", "core"],
        "env": {"VR_LOG_LEVEL": "debug"},
        "timeout": 5,
        "trust": True,
    }
    entry = entry_of(client("gemini-cli"), Launch("/new/vr", ("serve",), {"VR_X": "y"}), mine)
    assert entry == {**mine, "command": "/new/vr", "env": {"VR_LOG_LEVEL": "debug", "VR_X": "y"}}


@pytest.mark.parametrize(
    ("command", "arguments", "kept"),
    [
        ("/bin/uvx", ["--from", "video-research[local]", "video-research", "serve"], True),
        ("/old/uvx", ["video-research", "serve", "--search"], True),
        ("/old/uvx", ["--from", "video-research[local]", "video-research", "serve"], True),
        ("/old/uvx", ["--from", "video-research[local]", "vr", "--set", "a=b", "serve"], True),
        ("/bin/uvx", [], False),
        ("/bin/uvx", "video-research serve", False),
    ],
)
def test_arguments_stay_when_ours_are_among_them(
    command: str, arguments: list[str] | str, kept: bool
) -> None:
    launch = Launch("/bin/uvx", ("video-research", "serve"), {})
    entry = entry_of(client("claude-desktop"), launch, {"command": command, "args": arguments})
    assert entry["command"] == "/bin/uvx"
    assert entry["args"] == (arguments if kept else ["video-research", "serve"])


@pytest.mark.parametrize("before", [[], ["--set", "kernel.toolsets=core"]])
@pytest.mark.parametrize("after", [[], ["--toolsets", "core"]])
@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("/opt/python", ["-P", "-m", "vr_kernel"]),
        ("/opt/python", ["-m", "vr_kernel"]),
        ("C:\\old\\python.exe", ["-P", "-m", "vr_cli"]),
        ("/old/vr", []),
        ("C:\\old\\video-research.exe", []),
        ("/old/uvx", ["video-research"]),
    ],
)
@pytest.mark.parametrize(
    "launch",
    [
        Launch("/opt/vr", ("serve",), {}),
        Launch("/opt/python", ("-P", "-m", "vr_cli", "serve"), {}),
        Launch("/bin/uvx", ("video-research", "serve"), {}),
    ],
    ids=["script", "module", "temporary"],
)
def test_options_stay_when_an_entry_starts_the_server_in_another_way(
    launch: Launch, command: str, arguments: list[str], before: list[str], after: list[str]
) -> None:
    old = {"command": command, "args": [*arguments, *before, "serve", *after]}
    entry = entry_of(client("claude-desktop"), launch, {**old, "env": {"MINE": "1"}})
    assert entry == {
        "command": launch.command,
        "args": [*launch.arguments[:-1], *before, "serve", *after],
        "env": {"MINE": "1"},
    }


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("/opt/node", ["vr", "serve", "--search"]),
        ("/opt/python", ["-m", "other", "serve", "--search"]),
        ("/opt/python", ["vr_cli", "serve", "--search"]),
        ("/old/vr", ["--search"]),
        ("/old/vr", "serve --search"),
    ],
)
def test_arguments_of_another_program_are_replaced(command: str, arguments: object) -> None:
    entry = entry_of(client("claude-code"), HERE, {"command": command, "args": arguments})
    assert entry == {"type": "stdio", "command": "/opt/vr", "args": ["serve"]}


@pytest.mark.parametrize("other", [None, 3, {"url": "http://x/mcp", "headers": {}}])
def test_an_entry_of_another_kind_is_replaced(other: object) -> None:
    entry = entry_of(client("claude-code"), HERE, other)
    assert entry == {"type": "stdio", "command": "/opt/vr", "args": ["serve"]}


def test_times_are_in_the_units_of_the_client() -> None:
    assert entry_of(client("gemini-cli"), HERE)["timeout"] == 600_000
    assert entry_of(client("codex"), HERE)["tool_timeout_sec"] == 600
