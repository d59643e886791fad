"""Each file is written whole or not at all, with a copy of its former text."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from vr_cli.onboarding.changes import Change, read_file, real_file, secrets_of
from vr_cli.onboarding.clients import CLIENTS
from vr_cli.onboarding.launch import Launch
from vr_cli.onboarding.model_choice import KEY_VARIABLE, ModelChoice
from vr_cli.onboarding.plan import client_change, key_change, plan_changes
from vr_cli.onboarding.settings_file import settings_change
from vr_cli.onboarding.wishes import Wishes
from vr_cli.onboarding.writing import write_file
from vr_kernel import Config, load_config
from vr_kernel.errors import Code, VrError

KEY = "AIzaSy" + "k" * 33
posix = pytest.mark.skipif(sys.platform == "win32", reason="permissions and links of POSIX")


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, and every folder with nothing in it."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"folder"
        for path in folder.rglob("*")
    }


def test_new_folders_files_and_a_copy_of_the_old(tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    old.write_text("{}", "utf-8")
    new = tmp_path / "a" / "b" / "new.json"
    changes = [Change("o", old, "{}", "[]"), Change("n", new, None, "1")]
    written = [write_file(change, "now") for change in changes]
    assert (old.read_text("utf-8"), new.read_text("utf-8")) == ("[]", "1")
    assert [it.backup for it in written] == [tmp_path / "old.json.now.bak", None]
    assert (tmp_path / "old.json.now.bak").read_text("utf-8") == "{}"
    assert len(tree(tmp_path)) == 5


@pytest.mark.parametrize("second", ["changed", "made"])
def test_what_another_program_wrote_meanwhile_stays(second: str, tmp_path: Path) -> None:
    other = tmp_path / "b.json"
    other.write_text("theirs", "utf-8")
    before = tree(tmp_path)
    read = "as it was read" if second == "changed" else None
    with pytest.raises(VrError) as caught:
        write_file(Change("b", other, read, "new"), "now")
    assert caught.value.code is Code.CONFLICT
    assert str(other) in caught.value.message
    assert tree(tmp_path) == before


def test_a_folder_that_cannot_be_made_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    before = tree(tmp_path)
    with pytest.raises(VrError) as caught:
        write_file(Change("b", tmp_path / "file" / "b.json", None, "new"), "now")
    assert caught.value.code is Code.NOT_ALLOWED
    assert "left as it is" in caught.value.hint
    assert tree(tmp_path) == before


@posix
def test_permissions_are_kept_and_a_key_is_private(tmp_path: Path) -> None:
    shared, env = tmp_path / "shared.json", tmp_path / ".env"
    shared.write_text("{}", "utf-8")
    shared.chmod(0o640)
    env.write_text("A=b\n", "utf-8")
    env.chmod(0o644)
    for change in (Change("s", shared, "{}", "[]"), key_change(env, KEY_VARIABLE, KEY)):
        write_file(change, "now")
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {
        "shared.json": 0o640,
        "shared.json.now.bak": 0o640,
        ".env": 0o600,
        ".env.now.bak": 0o600,
    }


@posix
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    file = tmp_path / "dotfiles" / "mcp.json"
    link = tmp_path / "mcp.json"
    link.symlink_to(file)
    assert read_file(real_file(link)) is None
    write_file(Change("x", real_file(link), None, "{}"), "now")
    write_file(Change("x", real_file(link), "{}", "[]"), "now")
    assert link.is_symlink()
    assert file.read_text("utf-8") == "[]"


@posix
def test_what_may_not_be_written_is_refused(tmp_path: Path) -> None:
    locked = tmp_path / "locked.json"
    locked.touch(0o444)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for file in (locked, pipe, tmp_path):
        with pytest.raises(VrError) as caught:
            read_file(file)
        assert caught.value.code is Code.NOT_ALLOWED
        assert str(file) in caught.value.message


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_bytes(b"\xff{}")
    with pytest.raises(VrError, match="UTF-8") as caught:
        read_file(file)
    assert caught.value.category == "CONFIG_INVALID"


def test_no_secret_is_shown() -> None:
    values = {
        "servers": {
            "a": {"env": {"PAT": "ghp_hidden"}, "headers": {"x-auth": 'quo"ted1'}},
            "b": {"args": ["--api-key", "sk-hidden2", "--token=sk-hidden3", "plain"]},
        },
        "oauth_token": ["hidden4"],
    }
    hidden = secrets_of(values)
    assert {"ghp_hidden", 'quo\\"ted1', "sk-hidden2", "sk-hidden3", "hidden4"} <= hidden
    assert "plain" not in hidden
    before = "\n".join([*sorted(hidden), "plain", "\x1b[31m", "x" * 999])
    shown = Change("x", Path("f"), before, before + "\nmore", secrets=hidden).difference()
    shown += Change("x", Path("f"), None, before, secrets=hidden).difference()
    assert not any(secret in shown for secret in hidden)
    assert "plain" in shown
    assert "\x1b" not in shown
    assert max(map(len, shown.splitlines())) < 300


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, f"GEMINI_API_KEY={KEY}\n"),
        ("A=b", f"A=b\nGEMINI_API_KEY={KEY}\n"),
        ("export GEMINI_API_KEY='an-old-key' # x\nB=c\n", f"GEMINI_API_KEY={KEY}\nB=c\n"),
        ("# GEMINI_API_KEY=old\n", f"# GEMINI_API_KEY=old\nGEMINI_API_KEY={KEY}\n"),
        (f'GEMINI_API_KEY="{KEY}" # mine\n', f'GEMINI_API_KEY="{KEY}" # mine\n'),
    ],
)
def test_a_key_is_set_among_variables(before: str | None, after: str, tmp_path: Path) -> None:
    file = tmp_path / ".env"
    if before is not None:
        file.write_text(before, "utf-8")
    change = key_change(file, KEY_VARIABLE, KEY)
    assert change.after == after
    assert "an-old-key" not in change.difference()
    assert KEY not in change.difference() + repr(change).replace(repr(after), "")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_an_entry_that_says_the_same_stays_as_it_is_written(mark: str, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    ours = '{"type": "stdio", "args": ["serve"], "command": "/bin/vr"}'
    file.write_text(f'{mark}{{"mcpServers": {{"video-research": {ours}}}}}', "utf-8")
    cursor = next(client for client in CLIENTS if client.name == "cursor")
    assert client_change(cursor, file, Launch("/bin/vr", ("serve",), {})).action == "none"
    moved = client_change(cursor, file, Launch("/new/vr", ("serve",), {}))
    assert moved.after.startswith(f'{mark}{{"mcpServers"')
    assert "/new/vr" in moved.after


def test_two_clients_with_one_file_are_set_up_one_by_one(tmp_path: Path) -> None:
    wishes = Wishes(clients=[(client, tmp_path / "mcp.json") for client in CLIENTS[:2]])
    with pytest.raises(VrError, match="share one file"):
        plan_changes(
            wishes,
            Launch("/bin/vr", ("serve",), {}),
            tmp_path,
            load_config({"HOME": str(tmp_path)}),
        )


def test_a_key_within_another_value_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("A='first\nGEMINI_API_KEY=inner\nlast'\n", "utf-8")
    with pytest.raises(VrError, match="without harm"):
        key_change(file, KEY_VARIABLE, KEY)


@pytest.mark.parametrize(
    "arguments",
    [
        ["-P", "-m", "vr_kernel", "--set", "kernel.toolsets=core", "serve", "--search"],
        ["-m", "vr_kernel", "--set", "kernel.toolsets=core", "serve", "--search"],
        ["-P", "-m", "vr_cli", "--set", "kernel.toolsets=core", "serve", "--search"],
    ],
)
def test_options_stay_in_the_file_of_codex(arguments: list[str], tmp_path: Path) -> None:
    import tomllib

    file = tmp_path / "config.toml"
    file.write_text(
        f'[mcp_servers.video-research]\ncommand = "/opt/python"\nargs = {arguments} # mine\n',
        "utf-8",
    )
    codex = next(client for client in CLIENTS if client.name == "codex")
    change = client_change(codex, file, Launch("/opt/vr", ("serve",), {}))
    entry = tomllib.loads(change.after)["mcp_servers"]["video-research"]
    assert entry["command"] == "/opt/vr"
    assert entry["args"] == ["--set", "kernel.toolsets=core", "serve", "--search"]


@pytest.mark.parametrize(
    ("before", "allowed", "after"),
    [
        (None, [], ["new"]),
        (None, ["kept"], ["kept", "new"]),
        ("[kernel]\nallowed_roots = []\n", [], ["new"]),
        ("[kernel.http]\nmax_bytes = 5\n", [], ["new"]),
    ],
)
def test_folders_are_added(
    before: str | None, allowed: list[str], after: list[str], tmp_path: Path
) -> None:
    """And models beside them; what is set already is not written again."""
    import tomllib

    def config(*roots: str) -> Config:
        flags = {"kernel.allowed_roots": os.pathsep.join(roots)} if roots else {}
        return load_config({"HOME": str(tmp_path)}, flags)

    file = tmp_path / "config.toml"
    if before is not None:
        file.write_text(before, "utf-8")
    wishes = Wishes(folders=[Path("new"), Path("new")])
    change = settings_change(file, config(*allowed), wishes)
    assert tomllib.loads(change.after)["kernel"]["allowed_roots"] == after
    assert settings_change(file, config("new"), wishes).action == "none"
    chosen = ModelChoice(["groq"], ["openai"], {"plugins.models.ollama_model": "qwen3"})
    made = settings_change(file, config(*allowed), Wishes(models=chosen))
    written = tomllib.loads(made.after)
    assert written["models"] == {"agreed": ["groq"], "declined": ["openai"]}
    assert written["plugins"]["models"] == {"ollama_model": "qwen3"}
