"""`vr init`: what it shows, what it writes, what it refuses, and that its entries work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_fork import FreshVr, run_vr
from command_host import CommandHost, Ended
from init_terminal import Terminal
from plugin_zoo import OWN_TOOLS, Animal, Zoo, vr_command
from vr_cli.onboarding.answers import checked_key
from vr_kernel.errors import VrError
from vr_server import connect
from vr_testing import FakeGemini
from zoo_animals import GOOD, ZOO_TOOLS

KEY = "AIzaSy" + "k" * 33
SECRET = "ghp_0123456789abcdef"
CURSOR = (
    f'{{\n  // mine\n  "mcpServers": {{\n    "gh": {{"env": {{"PAT": "{SECRET}"}}}},\n  }},\n}}\n'
)
posix = pytest.mark.skipif(sys.platform == "win32", reason="terminals, limits, /")


MODELS = Animal(
    "models",
    """
import click, os, pathlib
from vr_kernel import Check, Code, Command, Diagnosis, Remedy, VrError, hookimpl

HERE = pathlib.Path(os.environ["VR_STATE_DIR"], "model")

def model():
    if HERE.exists():
        return Diagnosis.ok("The model is there.")
    remedy = Remedy(("models", "fetch", "large"), "Fetch the model large (2 GB)?")
    return Diagnosis.warning("The model is missing.", "vr models fetch large", remedy)

@click.command()
@click.argument("name")
def fetch(name):
    if os.environ.get("OFFLINE"):
        raise VrError("No network.", Code.UNAVAILABLE, retryable=True, hint="Try again.")
    print("fetched", name)
    HERE.parent.mkdir(exist_ok=True)
    HERE.touch()

@hookimpl
def vr_health(services):
    return [Check("model", model)]

@hookimpl
def vr_commands():
    return [Command(("models", "fetch"), "Fetch.", f"{__name__}:fetch")]
""",
)


class User:
    """A home with Cursor and Codex in it, and `vr init` there."""

    def __init__(self, folder: Path) -> None:
        self.zoo = Zoo(folder / "zoo").add(GOOD)
        self.home, self.work = self.zoo.folder, self.zoo.work
        self.cursor = self.write(".cursor/mcp.json", CURSOR)
        self.codex = self.write(".codex/config.toml", 'model = "x" # mine\n')
        self.videos = self.home / "videos"
        self.videos.mkdir()

    def write(self, name: str, text: str) -> Path:
        """Write a file of the home."""
        file = self.home / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
        return file

    def tree(self) -> dict[str, bytes]:
        """Every file of the home but the plugin's."""
        files = [path for path in self.home.rglob("*") if path.is_file()]
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in files
            if not {self.zoo.packages, self.zoo.marks} & set(path.parents)
        }

    def run(self, *arguments: str, stdin: str = "", **variables: str) -> Ended:
        """Run `vr init` as a process, where nobody can be asked."""
        environment = self.zoo.environment(**variables)
        return run_vr(environment, self.work, "init", *arguments, stdin=stdin)


@pytest.fixture
def user(tmp_path: Path) -> User:
    """A user for one test."""
    return User(tmp_path)


@pytest.fixture
def vr(user: User) -> FreshVr:
    """Runs command lines of the user, with a key in the environment."""
    return FreshVr(user.zoo.environment(GEMINI_API_KEY=KEY), user.work)


@pytest.fixture(scope="module")
def careless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[User, CommandHost]]:
    """A user whose every wish is refused, so that nothing changes from test to test."""
    user = User(tmp_path_factory.mktemp("careless"))
    host = CommandHost(user.zoo.environment(GEMINI_API_KEY=KEY), user.work)
    yield user, host
    host.close()


def test_it_shows_writes_and_then_has_nothing_to_do(user: User, vr: FreshVr) -> None:
    given = ["init", "--client", "all", "--folder", str(user.videos), "--key-from-env"]
    before = user.tree()
    shown = vr.run(*given, "--dry-run")
    assert shown.code == 0
    assert user.tree() == before
    done = vr.run(*given, "--yes")
    assert done.code == 0
    assert done.stdout.startswith(shown.stdout.rstrip())
    for said in ("+++ ", "GEMINI_API_KEY=[secret]", '+    "video-research": {', "+allowed_roots"):
        assert said in done.stdout
    assert KEY not in done.stdout + done.stderr
    assert SECRET not in done.stdout + done.stderr
    after = user.tree()
    assert sum(name.endswith(".bak") for name in after) == 2
    assert KEY not in str({name: text for name, text in after.items() if name != "config/.env"})
    again = vr.run(*given, "--yes", "--json")
    assert {change["action"] for change in again.data["changes"]} == {"none"}
    assert not again.data["written"]
    assert "Already up to date." in vr.run(*given, "--yes").stdout
    assert user.tree() == after
    settings = vr.run("config", "show", "--json").data
    assert settings["kernel"]["allowed_roots"]["value"] == [str(user.videos.resolve())]


def test_others_stay_and_ours_is_renewed(user: User, vr: FreshVr) -> None:
    old = '    "video-research": {"command": "gone", "args": ["serve"], "trust": true},\n'
    user.write(".cursor/mcp.json", CURSOR.replace("  },\n}", f"{old}  }},\n}}"))
    vr.run("init", "--client", "cursor", "--client", "codex", "--yes")
    text = user.cursor.read_text("utf-8")
    assert text.startswith(CURSOR[: CURSOR.index("  },")])
    assert "gone" not in text
    assert '"trust": true' in text
    assert user.codex.read_text("utf-8").startswith('model = "x" # mine\n')


def test_our_entry_is_taken_out_again(user: User, vr: FreshVr) -> None:
    before = user.tree()
    vr.run("init", "--client", "all", "--yes")
    assert "video-research" in user.cursor.read_text("utf-8") + user.codex.read_text("utf-8")
    shown = vr.run("init", "--remove", "--dry-run")
    assert '-    "video-research": {' in shown.stdout
    done = vr.run("init", "--remove", "--yes")
    assert done.code == 0
    assert user.cursor.read_text("utf-8") == CURSOR.replace("}},\n", "}}\n")
    assert "video-research" not in user.codex.read_text("utf-8")
    assert 'model = "x" # mine' in user.codex.read_text("utf-8")
    assert any(name.endswith(".bak") for name in user.tree().keys() - before.keys())
    assert "There is no entry of ours in it." in vr.run("init", "--remove", "--yes").stdout
    assert vr.run("init", "--remove", "--key-from-env").code == 2


def test_a_project_has_files_of_its_own(user: User, vr: FreshVr) -> None:
    before = user.tree()
    names = ["claude-code", "cursor", "vscode", "gemini-cli", "codex"]
    clients = [word for name in names for word in ("--client", name)]
    done = vr.run("init", *clients, "--project", "--yes", "--json")
    files = [Path(change["file"]) for change in done.data["changes"]]
    assert done.data["written"]
    assert [str(file.relative_to(user.work.resolve()).as_posix()) for file in files] == [
        ".mcp.json",
        ".cursor/mcp.json",
        ".vscode/mcp.json",
        ".gemini/settings.json",
        ".codex/config.toml",
    ]
    assert "servers" in json.loads(files[2].read_text("utf-8"))
    assert before.items() <= user.tree().items()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--client", "cursro", "--yes"], 2, "'cursor'"),
        (["--client", "claude-desktop", "--project", "--yes"], 1, "--project"),
        (["--folder", "nowhere", "--yes"], 1, "nowhere"),
        (["--folder", "", "--yes"], 1, "no folder"),
        (["--folder", "a\0b", "--yes"], 1, "no folder"),
        (["--folder", "~", "--yes"], 1, "home folder"),
        (["--folder", "../..", "--yes"], 1, "home folder"),
        pytest.param(["--folder", "/", "--yes"], 1, "home folder", marks=posix),
        (["--folder", "../.cursor/mcp.json", "--yes"], 2, "no folder"),
        (["--client", "cursor"], 2, "--yes"),
        ([], 2, "--client"),
        (["--yes"], 2, "--client"),
        (["--dry-run", "--json"], 2, "--client"),
        (["--key-from-env", "--key-from-stdin", "--yes"], 2, "not both"),
        (["--key", KEY], 2, "--key"),
    ],
)
def test_what_cannot_be_is_refused(
    arguments: list[str], code: int, said: str, careless: tuple[User, CommandHost]
) -> None:
    user, vr = careless
    before = user.tree()
    ended = vr.run("init", *arguments)
    assert ended.code == code
    assert said in ended.stderr
    assert KEY not in ended.stderr.replace(f"--key {KEY}", "")
    assert "Traceback" not in ended.stderr
    assert user.tree() == before


@pytest.mark.parametrize("key", ["", "your-key", "tiny", f"{KEY} {KEY}", f"'{KEY}'"])
def test_what_can_be_no_key_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(VrError) as caught:
        checked_key(f"{key}\n")
    assert caught.value.category == "KEY_REFUSED"
    assert not key or key not in caught.value.message + caught.value.hint


def test_no_key_on_stdin_is_an_error(user: User) -> None:
    ended = user.run("--client", "cursor", "--key-from-stdin", "--yes")
    assert ended.code == 2
    assert "No key was given." in ended.stderr
    assert user.cursor.read_text("utf-8") == CURSOR


def test_a_key_comes_from_stdin(user: User) -> None:
    ended = user.run("--key-from-stdin", "--yes", stdin=f"{KEY}\n", GEMINI_API_KEYS="x" * 39)
    assert ended.code == 0
    assert (user.home / "config" / ".env").read_text("utf-8") == f"GEMINI_API_KEY={KEY}\n"
    assert "GEMINI_API_KEYS" in ended.stderr  # it wins
    assert KEY not in ended.stdout + ended.stderr


def test_a_broken_file_is_named_and_the_others_are_written(user: User, vr: FreshVr) -> None:
    broken = user.write(".claude.json", '{\n  "mcpServers": {,}\n}\n')
    before = user.tree()
    given = ("--client", "all", "--folder", str(user.videos), "--key-from-env", "--yes")
    ended = vr.run("init", *given, "--json")
    assert ended.code == 3
    (refused,) = ended.data["refused"]
    assert f"{user.home.resolve() / '.claude.json'}, line 2" in refused["message"]
    pasted = refused["hint"].partition("\n")[2]
    assert json.loads(pasted)["mcpServers"]["video-research"]["args"] == ["serve"]
    assert refused["message"] in ended.stderr
    assert broken.read_bytes() == before[".claude.json"]
    for name in (".cursor/mcp.json", ".codex/config.toml"):
        assert b"video-research" in user.tree()[name]
    assert KEY in user.tree()["config/.env"].decode()
    assert str(user.videos.resolve()) in user.tree()["config/config.toml"].decode()
    broken.write_text(pasted, "utf-8")
    again = vr.run("init", *given, "--json")
    assert (again.code, again.data["refused"], again.data["written"]) == (0, [], False)


@posix
@pytest.mark.slow
def test_a_full_disk_leaves_a_file_as_it_was(user: User) -> None:
    import resource

    user.write(".claude.json", "{}")
    user.write(".cursor/mcp.json", CURSOR.replace("// mine", "// mine" * 1000))
    before = user.tree()
    done = subprocess.run(
        vr_command("init", "--client", "all", "--folder", str(user.videos), "--yes", "--json"),
        check=False,
        env=user.zoo.environment(PYTHONDONTWRITEBYTECODE="1"),
        cwd=user.work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000)),
    )
    assert done.returncode == 1, done.stderr
    assert "the disk is full" in done.stderr
    (refused,) = json.loads(done.stdout)["refused"]
    assert ".cursor/mcp.json cannot be written: the disk is full." in refused["message"]
    after = user.tree()
    assert after[".cursor/mcp.json"] == before[".cursor/mcp.json"]
    assert not [name for name in after if name.startswith(".cursor/") and name not in before]
    assert "video-research" in after[".claude.json"].decode(), "the others are written"


@posix
def test_a_read_only_file_is_refused(user: User, vr: FreshVr) -> None:
    user.cursor.chmod(0o444)
    ended = vr.run("init", "--client", "all", "--yes")
    assert ended.code == 1
    assert "read-only" in ended.stderr
    assert user.cursor.read_text("utf-8") == CURSOR
    assert "video-research" in user.codex.read_text("utf-8")


@posix
def test_an_empty_home_variable_is_no_root_folder(user: User) -> None:
    ended = user.run("--client", "claude-code", "--dry-run", "--json", HOME="")
    assert ended.code == 0
    import pwd

    home = Path(pwd.getpwuid(os.getuid()).pw_dir).resolve()
    assert ended.data["changes"][0]["file"] == str(home / ".claude.json")


@posix
@pytest.mark.parametrize("answer", ["y", pytest.param("n", marks=pytest.mark.slow)])
def test_it_asks_three_things_on_a_terminal(answer: str, user: User, gemini: FakeGemini) -> None:
    user.write(".claude.json", "{,}")
    before = user.tree()
    gemini.keys = {KEY}
    terminal = Terminal(user.zoo, GOOGLE_GEMINI_BASE_URL=gemini.url)
    terminal.answer("Folders:", "/nowhere")
    terminal.answer("Folders:", str(user.videos))
    terminal.answer("(hidden):", KEY.lower())
    terminal.answer("(hidden):", KEY)
    terminal.answer("Clients [", "claude-code cursor codex")
    terminal.answer("Write this? [Y/n]:", answer)
    asked = terminal.said.index("Write this?")
    assert ".claude.json, line 1" in terminal.said[:asked]
    assert terminal.end() == 3
    assert "There is no folder '/nowhere'. Make it, or name another; ':' stands" in terminal.said
    assert KEY not in terminal.said
    assert KEY.lower() not in terminal.said
    assert "Not taken, try another" in terminal.said
    assert gemini.bill.calls == 0
    if answer == "n":
        assert user.tree() == before
    else:
        assert f"GEMINI_API_KEY={KEY}" in (user.home / "config" / ".env").read_text("utf-8")
        assert "video-research" in user.codex.read_text("utf-8")


@posix
@pytest.mark.parametrize(
    ("answer", "offline", "code"),
    [
        ("y", "", 0),
        pytest.param("", "", 0, marks=pytest.mark.slow),
        ("y", "yes", 75),
    ],
)
def test_a_missing_model_is_the_fourth_question(
    answer: str, offline: str, code: int, user: User
) -> None:
    user.zoo.add(MODELS)
    terminal = Terminal(user.zoo, OFFLINE=offline)
    terminal.answer("Folders:", "")
    terminal.answer("(hidden):", "")
    terminal.answer("Clients [", "cursor")
    terminal.answer("4. Fetch the model large (2 GB)? [y/N]:", answer)
    terminal.answer("Write this? [Y/n]:", "y")
    assert terminal.end() == code
    assert "video-research" in user.cursor.read_text("utf-8")
    fetched = user.home / "state" / "model"
    assert fetched.exists() == (answer == "y" and not offline)
    assert ("to run: vr models fetch large" in terminal.said) == (answer == "y")
    assert ("No network." in terminal.said) == bool(offline)


@pytest.mark.slow
def test_models_are_fetched_when_told_so(user: User) -> None:
    user.zoo.add(MODELS)
    refused = user.run("--fetch")
    assert (refused.code, "Add --yes" in refused.stderr) == (2, True)
    row = {"command": "vr models fetch large", "exit_code": None}
    assert user.run("--fetch", "--dry-run", "--json").data["fetched"] == [row]
    assert not (user.home / "state" / "model").exists()
    failed = user.run("--fetch", "--client", "cursor", "--yes", "--json", OFFLINE="yes")
    assert (failed.code, failed.data["written"]) == (75, True)
    assert "Hint: Try again." in failed.stderr
    assert user.run("--fetch", "--yes", "--json").data["fetched"] == [{**row, "exit_code": 0}]
    assert user.run("--fetch", "--yes", "--json").data["fetched"] == []


@posix
@pytest.mark.slow
def test_empty_answers_choose_nothing_but_the_clients_found(user: User) -> None:
    terminal = Terminal(user.zoo)
    terminal.answer("Folders:", "")
    terminal.answer("(hidden):", "")
    terminal.answer("[cursor codex]:", "none")
    assert terminal.end() == 0
    assert "Nothing was chosen." in terminal.said


@posix
@pytest.mark.slow
def test_json_is_asked_for_with_the_difference_too(user: User) -> None:
    terminal = Terminal(user.zoo, "--client", "cursor", "--json")
    terminal.answer("Write this?", "n")
    assert '+    "video-research": {' in terminal.said
    assert terminal.end() == 0
    assert '"written": false' in terminal.said
    assert user.cursor.read_text("utf-8") == CURSOR


def test_help_imports_no_plugin_and_no_server(user: User) -> None:
    code = (
        "import sys; from vr_cli.root import run; assert run(['init', '--help']) == 0;"
        "heavy = {'fastmcp', 'mcp', 'tomlkit', 'importlib_metadata', 'zoo_plugin_zoo'};"
        "assert not heavy & {name.partition('.')[0] for name in sys.modules}"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        env=user.zoo.environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "--key-from-stdin" in done.stdout
    assert not user.zoo.imported()


@pytest.mark.slow
@pytest.mark.parametrize("client", ["claude-code", "codex"])
async def test_the_entry_starts_a_server_as_it_is_written(client: str, user: User) -> None:
    ended = user.run("--client", client, "--project", "--yes")
    assert ended.code == 0, ended.stderr
    entry = written_entry(user.work, client)
    few = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    plugins = {"PYTHONPATH": str(user.zoo.packages), "VR_PLUGINS": "zoo"}
    environ = {**few, **plugins, "ZOO_MARKS": str(user.zoo.marks), "HOME": str(user.home)}
    command = [entry["command"], *entry["args"]]
    async with connect(command, env={**environ, **entry["env"]}, cwd=user.work) as server:
        assert sorted(await server.tool_names()) == sorted([*ZOO_TOOLS, *OWN_TOOLS])
    assert (user.home / "state").is_dir()


def written_entry(folder: Path, client: str) -> Any:
    """Our entry in the project's file of a client."""
    if client == "codex":
        import tomllib

        text = (folder / ".codex" / "config.toml").read_text("utf-8")
        return tomllib.loads(text)["mcp_servers"]["video-research"]
    text = (folder / ".mcp.json").read_text("utf-8")
    return json.loads(text)["mcpServers"]["video-research"]
