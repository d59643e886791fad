"""`vr`: every tool as a command, exit codes, and output on the right stream."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command_fork import run_vr
from command_host import CommandHost, Ended
from plugin_zoo import Zoo, vr_command
from vr_kernel.errors import Code
from vr_kernel.version import VERSION
from zoo_animals import GOOD, NOISY, SHELF

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    """The good plugin and a noisy one, whose noise must not be seen."""
    return Zoo(tmp_path_factory.mktemp("zoo")).add(GOOD, NOISY, SHELF)


@pytest.fixture(scope="module")
def vr(zoo: Zoo) -> Iterator[CommandHost]:
    """Runs command lines."""
    host = CommandHost(zoo.environment(), zoo.work)
    host.run("plugin", "list")  # imports the plugins, with their noise
    yield host
    host.close()


@pytest.fixture
def fresh(tmp_path: Path) -> Zoo:
    """A zoo with the good plugin, for one test."""
    return Zoo(tmp_path / "zoo").add(GOOD)


@contextmanager
def start(zoo: Zoo, *arguments: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """Start `vr` as a process, which does not outlive the block."""
    with subprocess.Popen(
        vr_command(*arguments),
        env=zoo.environment(**variables),
        cwd=zoo.work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def run(zoo: Zoo, *arguments: str, **variables: str) -> Ended:
    """Run `vr` as a process."""
    return run_vr(zoo.environment(**variables), zoo.work, *arguments)


# Names, without plugins.

LIST_MODULES = """
import atexit, pathlib, sys
atexit.register(lambda: pathlib.Path("modules.txt").write_text("\\n".join(sys.modules)))
"""


def run_listing_modules(zoo: Zoo, *arguments: str) -> tuple[Ended, set[str]]:
    """Run `vr`, and say what it imported."""
    (zoo.packages / "sitecustomize.py").write_text(LIST_MODULES, "utf-8")
    with start(zoo, *arguments) as process:
        stdout, stderr = process.communicate()
    ended = Ended(process.returncode, stdout, stderr)
    modules = (zoo.work / "modules.txt").read_text("utf-8").split()
    return ended, set(modules)


def packages(modules: set[str]) -> set[str]:
    """First parts of the names of modules."""
    return {module.partition(".")[0] for module in modules}


def test_help_imports_no_plugin_and_no_server(fresh: Zoo) -> None:
    before, modules = run_listing_modules(fresh, "--help")
    assert before.code == 0
    assert "Brings vr-plugin-zoo." in before.stdout
    assert not packages(modules) & {"fastmcp", "mcp", "mcp_types", "pydantic"}
    assert fresh.imported() == set()
    assert run(fresh, "plugin", "list").code == 0
    fresh.forget()
    after, modules = run_listing_modules(fresh, "--help")
    assert after.code == 0
    assert fresh.imported() == set()
    assert not packages(modules) & {"fastmcp", "mcp", "mcp_types", "pydantic", "importlib_metadata"}
    assert "feed" in after.stdout
    assert "picnic" in after.stdout
    for own in ("call", "config", "plugin", "serve"):
        assert own in after.stdout


def test_help_of_a_domain_comes_from_the_index(fresh: Zoo) -> None:
    run(fresh, "plugin", "list")
    fresh.forget()
    ended = run(fresh, "zoo", "--help")
    assert ended.code == 0
    assert "echo" in ended.stdout
    assert "Say it again." in ended.stdout
    assert fresh.imported() == set()


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"zoo": 3}',
        *(pytest.param(text, marks=pytest.mark.slow) for text in ("", "[]", "3", "\0")),
        pytest.param('{"zoo": {"echo": []}}', marks=pytest.mark.slow),
    ],
)
def test_a_damaged_index_is_no_matter(text: str, vr: CommandHost, zoo: Zoo) -> None:
    index = zoo.folder / "cache" / "commands.json"
    vr.run("plugin", "list")
    index.write_text(text, "utf-8")
    assert vr.run("--help").code == 0
    index.write_text(text, "utf-8")
    assert vr.run("zoo", "--help").code == 0
    index.write_text(text, "utf-8")
    assert vr.run("zoo", "echo", "hi").code == 0
    assert json.loads(index.read_text("utf-8"))["zoo"]["echo"] == "Say it again."


def test_an_old_index_hides_no_new_tool(vr: CommandHost, zoo: Zoo) -> None:
    index = zoo.folder / "cache" / "commands.json"
    vr.run("plugin", "list")
    names = json.loads(index.read_text("utf-8"))
    del names["zoo"]["echo"], names["noisy"], names["picnic"]
    for command in (["zoo", "echo", "hi"], ["noisy", "go"], ["picnic"]):
        index.write_text(json.dumps(names), "utf-8")
        assert vr.run(*command).code == 0


def test_an_index_that_names_what_is_gone(vr: CommandHost, zoo: Zoo) -> None:
    index = zoo.folder / "cache" / "commands.json"
    index.parent.mkdir(exist_ok=True)
    index.write_text('{"gone": {"go": "Go."}, "zoo": {"gone": "Go."}}', "utf-8")
    for command in (["gone", "go"], ["zoo", "gone"]):
        ended = vr.run(*command)
        assert ended.code == 2
        assert "No such command" in ended.stderr


def test_a_folder_that_cannot_be_written_is_no_matter(fresh: Zoo) -> None:
    (fresh.folder / "cache").write_text("a file, no folder", "utf-8")
    assert run(fresh, "zoo", "echo", "hi").code == 0


def test_the_version(vr: CommandHost) -> None:
    ended = vr.run("--version")
    assert (ended.code, ended.stderr) == (0, "")
    assert VERSION in ended.stdout


# Tools as commands.


def test_a_tool_is_a_command(vr: CommandHost) -> None:
    ended = vr.run("zoo", "echo", "good morning", "--tags", "a", "--point", '{"x": 1.5}')
    assert ended == Ended(
        0,
        "Text   good morning\nTimes  1\nLoud   no\nMood   calm\nLevel  1\nFood   hay\n\n"
        "Tags\n• a\n\nPoint\nX  1.5\nY  0\n",
        "",
    )


def echo(vr: CommandHost, *arguments: str) -> dict[str, Any]:
    """The arguments as `vr zoo echo` got them."""
    ended = vr.run("zoo", "echo", *arguments, "--json")
    assert (ended.code, ended.stderr) == (0, "")
    data: dict[str, Any] = ended.data
    return data


@pytest.mark.parametrize(
    "text",
    ["hi", "3", "[1]", "null", "@home", '{"a": 1}', "true", "", " ", "hä?", "https://a.b", "a=b"],
)
def test_text_stays_as_it_is(text: str, vr: CommandHost) -> None:
    assert echo(vr, text)["text"] == text
    assert echo(vr, "--text", text)["text"] == text


def test_text_that_looks_like_an_option(vr: CommandHost) -> None:
    assert vr.run("zoo", "echo", "--json", "--", "--loud").data["text"] == "--loud"


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        (["--times", "3"], "times", 3),
        (["--loud"], "loud", True),
        (["--no-loud"], "loud", False),
        (["--mood", "wild"], "mood", "wild"),
        (["--level", "2"], "level", 2),
        (["--tags", "a", "--tags", "b"], "tags", ["a", "b"]),
        (["--tags", "2024", "--tags", "true", "--tags", "@a"], "tags", ["2024", "true", "@a"]),
        (["--tags", '["a", "b"]'], "tags", ["a", "b"]),
        (["--numbers", "1", "--numbers", "2"], "numbers", [1, 2]),
        (["--numbers", "[1, 2]"], "numbers", [1, 2]),
        (["--point", '{"x": 1}'], "point", {"x": 1.0, "y": 0.0}),
        (["--extra", '{"a": [1, null]}'], "extra", {"a": [1, None]}),
        (["--note", "2024"], "note", "2024"),
    ],
)
def test_options_become_arguments(
    options: list[str], name: str, value: Any, vr: CommandHost
) -> None:
    assert echo(vr, "x", *options)[name] == value


def test_an_object_may_stand_in_a_file(vr: CommandHost) -> None:
    (vr.folder / "point.json").write_text('{"x": 2, "y": 3}', "utf-8")
    assert echo(vr, "x", "--point", "@point.json")["point"] == {"x": 2, "y": 3}


def test_a_required_list_is_taken_by_position(vr: CommandHost) -> None:
    ended = vr.run("zoo", "total", '[{"x": 1}, {"x": 2, "y": 3}]', "--json")
    assert ended.data["uri"] == "3 3"
    (vr.folder / "points.json").write_text('[{"x": 5}]', "utf-8")
    assert vr.run("zoo", "total", "@points.json", "--json").data["uri"] == "5 0"
    assert vr.run("zoo", "total", "--points", '{"x": 7}', "--json").data["uri"] == "7 0"
    several = vr.run("zoo", "total", '{"x": 1}', '{"x": 2, "y": 3}', "--json")
    assert several.data["uri"] == "3 3"
    shown = vr.run("zoo", "total", "--help").stdout
    assert "total [OPTIONS] POINTS..." in shown
    assert "several times" in shown


def test_all_that_is_required_is_taken_by_position(vr: CommandHost) -> None:
    by_place = vr.run("shelf", "quote", "Emma", "7")
    assert by_place == Ended(0, "Emma\n\nPage  7\n", "")
    assert vr.run("shelf", "quote", "Emma", "--page", "7") == by_place
    assert vr.run("shelf", "quote", "--title", "Emma", "--page", "7") == by_place
    assert (
        "Give PAGE or --page, not both."
        in vr.run("shelf", "quote", "Emma", "7", "--page", "8").stderr
    )
    shown = vr.run("shelf", "quote", "--help").stdout
    assert "quote [OPTIONS] TITLE PAGE" in shown
    assert "[the same as TITLE]" in shown
    assert "SOURCE is a web address" in vr.run("zoo", "look", "--help").stdout


# What a person reads.


def test_what_a_tool_prints_alone_goes_to_stdout(vr: CommandHost) -> None:
    ended = vr.run("shelf", "read", "Emma")
    assert ended.code == 0
    assert ended.stdout == "1\n  Emma\n\n2\n  Woodhouse\n"
    assert ended.stderr == "Note: By heart.\n"
    assert vr.run("shelf", "read", "Emma", "--json").data["text"] == "1\n  Emma\n\n"


def test_of_a_document_with_a_file_all_is_printed_while_that_is_there(vr: CommandHost) -> None:
    whole = vr.run("shelf", "read", "Emma", "--json").data["whole_uri"]
    assert (vr.folder.parent / "state" / "artifacts" / Path(whole).name).is_file()
    cleaned = vr.run("shelf", "read", "Emma", "--no-keep")
    assert cleaned.stdout == "1\n  Emma\n"
    assert "`--cursor 2` goes on" in cleaned.stderr


def test_a_tool_without_its_document_prints_all_fields(vr: CommandHost) -> None:
    assert vr.run("shelf", "read", "").stdout == "Nothing\n"


def test_artifacts_are_shown_by_their_size_or_as_files(vr: CommandHost) -> None:
    painted = vr.run("zoo", "paint", "sea", "--json").data
    assert vr.run("zoo", "paint", "sea").stdout == "File: 3 bytes txt\n"
    whole = vr.run("zoo", "paint", "sea", "--full").stdout
    assert "".join(whole.split()) == f"File:{painted['path']}"
    found = vr.run("shelf", "find", "Emma", "--json").data
    picture = vr.folder.parent / "state" / "artifacts" / Path(found["results"][0]["uri"]).name
    assert "artifacts" not in vr.run("shelf", "find", "Emma").stdout
    shown = "".join(vr.run("shelf", "find", "Emma", "--full").stdout.split())
    assert str(picture) in shown
    assert "notthereanymore" in shown


def test_a_list_that_is_empty_is_said_to_be(vr: CommandHost) -> None:
    assert vr.run("shelf", "find", "nobody").stdout == "Nothing found.\n"
    assert vr.run("shelf", "find", "nobody", "--json").data == {
        "results": [], "notes": [], "ranked": False, "next_cursor": None,
    }  # fmt: skip
    assert vr.run("job", "list").stdout == "Jobs\n\nThere are no jobs.\n"


@pytest.mark.parametrize(
    ("source", "slot"),
    [
        ("https://example.org/a.mp4", "url"),
        ("HTTP://example.org", "url"),
        ("talk.mp4", "file_path"),
        ("/some/where/talk.mp4", "file_path"),
        ("C:\\talks\\talk.mp4", "file_path"),
        ("http:talk", "file_path"),
        ("@talk", "file_path"),
    ],
)
def test_a_source_is_an_address_or_a_file(source: str, slot: str, vr: CommandHost) -> None:
    seen = vr.run("zoo", "look", source, "--json").data
    assert seen == {"url": None, "file_path": None} | {slot: source}
    option = "--" + slot.replace("_", "-")
    assert vr.run("zoo", "look", option, source, "--json").data == seen


def test_several_sources_are_taken_one_after_another(vr: CommandHost) -> None:
    ended = vr.run("zoo", "look", "a.mp4", "https://b.example/c", "a.mp4", "--json")
    assert (ended.code, ended.stderr) == (0, "")
    assert [json.loads(line) for line in ended.stdout.splitlines()] == [
        {"source": "a.mp4", "result": {"url": None, "file_path": "a.mp4"}},
        {
            "source": "https://b.example/c",
            "result": {"url": "https://b.example/c", "file_path": None},
        },
    ]
    assert vr.run("zoo", "look", "a.mp4", "b.mp4").stdout == (
        "==> a.mp4 <==\nFile path  a.mp4\n\n==> b.mp4 <==\nFile path  b.mp4\n"
    )


def test_one_source_that_fails_stops_none_of_the_others(vr: CommandHost) -> None:
    ended = vr.run("shelf", "open-book", "Emma", "gone", "busy", "Persuasion", "--json")
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [line["source"] for line in lines] == ["Emma", "gone", "busy", "Persuasion"]
    assert [line.get("error", {}).get("code") for line in lines] == [
        None, "NOT_FOUND", "UNAVAILABLE", None,
    ]  # fmt: skip
    assert ended.code == 75
    shown = vr.run("shelf", "open-book", "gone", "Emma")
    assert shown.code == 1
    assert shown.stderr == "==> gone <==\nError: There is no such book.\n"
    assert shown.stdout == "\n==> Emma <==\nEmma\n\nPage  1\n"


def test_a_folder_among_several_sources_stops_none_of_the_others(vr: CommandHost) -> None:
    ended = vr.run("zoo", "look", "a.mp4", ".", "b.mp4", "--json")
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [line["source"] for line in lines] == ["a.mp4", ".", "b.mp4"]
    assert [line.get("error", {}).get("code") for line in lines] == [None, "INVALID_INPUT", None]
    assert ended.code == 2


def test_a_question_needs_no_quotes(vr: CommandHost) -> None:
    assert echo(vr, "what", "is", "attention?", "--times", "2", "--loud")["text"] == (
        "what is attention?"
    )
    assert vr.run("shelf", "find", "Pride", "and", "Prejudice", "--json").data["results"][0][
        "title"
    ] == ("Pride and Prejudice")
    assert vr.run("job", "status", "one", "two").code == 2


def test_an_id_that_is_not_there_is_said_to_be_none(vr: CommandHost) -> None:
    ended = vr.run("job", "result", "3f9a")
    assert ended.code == 1
    assert ended.stderr == (
        "Error: No job begins with '3f9a'.\nHint: `vr job list` lists what there is.\n"
    )
    whole = vr.run("job", "result", "3f9a" * 8)
    assert "There is no job" in whole.stderr
    assert "Hint: `vr job list` names" in whole.stderr
    asked = vr.run("job", "result", "3f9a" * 8, "--json")
    assert asked.data["error"]["hint"].startswith("job_list names")


def test_a_tool_may_have_a_word_of_its_own(vr: CommandHost) -> None:
    assert vr.run("search", "Emma") == vr.run("shelf", "find", "Emma")
    assert "search" in vr.run("--help").stdout
    assert "Find books." in vr.run("search", "-h").stdout


def test_a_limit_is_that_of_the_whole(vr: CommandHost) -> None:
    whole = vr.run("search", "Emma", "--json").data
    assert (len(whole["results"]), whole["next_cursor"]) == (2, "2")
    one = vr.run("search", "Emma", "--limit", "1", "--json").data
    assert one == {**whole, "results": whole["results"][:1], "next_cursor": None}
    shown = vr.run("search", "Emma", "--limit", "1")
    assert shown.stdout == "Results\nTitle\nEmma\n"
    assert shown.stderr == "Note: There are more; `--limit N` shows them.\n"
    assert vr.run("search", "Emma", "--limit", "1", "-o", "found.md").stderr == ""
    kept = (vr.folder / "found.md").read_text("utf-8")
    assert kept.endswith("- There are more.\n"), "no words of the terminal"
    assert "Most results in all" in vr.run("search", "--help").stdout


def test_help_has_a_short_name(vr: CommandHost) -> None:
    for command in ([], ["zoo"], ["zoo", "echo"], ["plugin", "list"]):
        assert vr.run(*command, "-h") == vr.run(*command, "--help")


def test_a_source_may_be_a_folder(vr: CommandHost) -> None:
    assert vr.run("zoo", "walk", "talks", "--json").data == {"url": None, "file_path": "talks"}
    address = "https://example.org/list"
    assert vr.run("zoo", "walk", address, "--json").data == {"url": address, "file_path": None}


def test_one_thing_said_twice_is_refused(vr: CommandHost) -> None:
    ended = vr.run("zoo", "look", "a.mp4", "--file-path", "b.mp4")
    assert ended.code == 2
    assert "--file-path" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["zoo", "echo"], ["TEXT is missing", "Usage: vr zoo echo [OPTIONS] TEXT..."]),
        (["zoo", "look"], ["SOURCE is missing. SOURCE is a web address", "Usage: vr zoo look"]),
        (["job", "result"], ["JOB_ID is missing", "Usage: vr job result"]),
        (["job", "result", "f1e"], ["at least 4 characters", "`vr job list`"]),
        (["zoo", "echo", "x", "--times", "many"], ["--times: ", "integer", "Arguments: --text, "]),
        (["zoo", "echo", "x", "--times", "10"], ["times", "9"]),
        (["zoo", "echo", "x", "--mood", "sad"], ["--mood", "calm", "wild"]),
        (["zoo", "echo", "x", "--point", "{"], ["--point", "not valid JSON", "char 1"]),
        (["call", "zoo_echo", "text=x", "point=[1"], ["point", "not valid JSON"]),
        (["zoo", "echo", "x", "--point", "@missing.json"], ["missing.json", "No such file"]),
        (["zoo", "echo", "x", "--nose", "y"], ["--nose", "--note"]),
        (["zoo", "fail", "QUOTA", "y"], ["y"]),
        (["zoo", "look", "."], [". is a folder", "each of the files in it: vr zoo look ./*"]),
        (["zoo", "echo", "x", "--times"], ["--times"]),
        (["call", "zoo_echo", "txet=x"], ["Did you mean 'text'"]),
        (["call", "zoo_echo", "text"], ["text", "NAME=VALUE"]),
        (["call"], ["TOOL"]),
        (["config", "trust", "missing"], ["missing"]),
        (["--bogus"], ["--bogus"]),
    ],
)
def test_wrong_usage_exits_with_2(arguments: list[str], says: list[str], vr: CommandHost) -> None:
    ended = vr.run(*arguments)
    assert ended.code == 2, ended
    assert ended.stdout == ""
    for part in says:
        assert part in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "category", "says"),
    [
        (["zoo", "echo"], "USAGE", "TEXT is missing."),
        (["zoo", "echo", "x", "--nose", "y"], "USAGE", "No such option '--nose'."),
        (["zoo", "echo", "x", "--mood", "sad"], "USAGE", "'sad' is not one of"),
        (["zoo", "echo", "x", "--times", "many"], "INVALID_INPUT", "--times: "),
        (["zooo"], "USAGE", "No such command 'zooo'."),
        (["init"], "USAGE", "Nobody can be asked here."),
        (["call"], "USAGE", "TOOL"),
    ],
)
def test_wrong_usage_is_json_for_who_wants_json(
    arguments: list[str], category: str, says: str, vr: CommandHost
) -> None:
    ended = vr.run(*arguments, "--json")
    error = ended.data["error"]
    assert (ended.code, error["code"], error["category"]) == (2, "INVALID_INPUT", category)
    assert says in error["message"]
    assert error["hint"]
    assert says in ended.stderr


def test_a_word_behind_dashes_asks_for_no_json(vr: CommandHost) -> None:
    ended = vr.run("zoo", "echo", "--nose", "--", "--json")
    assert (ended.code, ended.stdout) == (2, "")


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        (["zooo"], "'zoo'"),
        (["zooo", "echo"], "'zoo'"),
        (["serv"], "'serve'"),
        (["cal", "zoo_echo"], "'call'"),
        (["picnik"], "'picnic'"),
        (["zoo", "ecko"], "'echo'"),
        (["zoo", "fed"], "'feed'"),
        (["zoo-echo"], "'zoo echo'"),
        (["zoo_ecko"], "'zoo echo'"),
        (["plugin", "lst"], "'list'"),
    ],
)
def test_an_unknown_command_names_the_nearest(
    arguments: list[str], nearest: str, vr: CommandHost
) -> None:
    ended = vr.run(*arguments)
    assert ended.code == 2
    assert arguments[-1 if arguments[0] in ("zoo", "plugin") else 0] in ended.stderr
    assert nearest in ended.stderr


def test_an_unknown_command_without_a_near_one(vr: CommandHost) -> None:
    ended = vr.run("xylophone")
    assert (ended.code, ended.stdout) == (2, "")
    assert "xylophone" in ended.stderr


@pytest.mark.parametrize("arguments", [["zoo", "echo", "--help"], ["call", "--help"]])
def test_help_of_a_command(arguments: list[str], vr: CommandHost) -> None:
    ended = vr.run(*arguments)
    assert ended.code == 0
    assert "--json" in ended.stdout
    if arguments[0] == "zoo":
        for part in ("TEXT", "Say it again.", "--loud / --no-loud", "[calm|wild]", "What to say"):
            assert part in ended.stdout


# Commands that are no tools.


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["zoo", "feed"], 0, "Fed with hay.\n"),
        (["zoo", "feed", "grass"], 0, "Fed with grass.\n"),
        (["zoo", "feed", "stones"], 1, "Fed with stones.\n"),
        (["picnic"], 0, "Fed with hay.\n"),
        (["picnic", "cake"], 0, "Fed with cake.\n"),
        (["--set", "plugins.zoo.food=oats", "zoo", "feed"], 0, "Fed with oats.\n"),
    ],
)
def test_commands_of_plugins(arguments: list[str], code: int, says: str, vr: CommandHost) -> None:
    assert vr.run(*arguments) == Ended(code, says, "")


def test_a_command_whose_code_is_missing(vr: CommandHost) -> None:
    ended = vr.run("zoo", "lost")
    assert (ended.code, ended.stdout) == (1, "")
    assert "zoo lost" in ended.stderr
    assert "nowhere" in ended.stderr
    assert "Traceback" not in ended.stderr


# Call.


def test_call_takes_any_tool(vr: CommandHost) -> None:
    ended = vr.run(
        "call", "zoo_echo", "text=a=b", "times=2", "loud=true", 'tags=["a"]', "note=3", "--json"
    )
    assert ended.code == 0
    assert ended.data["text"] == "a=b"
    assert (ended.data["times"], ended.data["loud"], ended.data["tags"]) == (2, True, ["a"])
    assert ended.data["note"] == "3"


def test_call_reads_files(vr: CommandHost) -> None:
    (vr.folder / "point.json").write_text('{"x": 2, "y": 3}', "utf-8")
    ended = vr.run("call", "zoo_echo", "text=@x", "point=@point.json", "--json")
    assert ended.data["point"] == {"x": 2, "y": 3}
    assert ended.data["text"] == "@x"


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_call_of_an_unknown_tool(as_json: list[str], vr: CommandHost) -> None:
    ended = vr.run("call", "zoo_ecko", *as_json)
    assert ended.code == 1
    assert "Did you mean 'zoo_echo'" in ended.stderr
    if as_json:
        assert ended.data["error"]["code"] == "NOT_FOUND"


# How it ends.

EXITS = {
    Code.INVALID_INPUT: 2,
    Code.AUTH: 4,
    Code.QUOTA: 5,
    Code.BUDGET: 5,
    Code.CANCELLED: 130,
}


@pytest.mark.parametrize("code", list(Code))
def test_exit_codes(code: Code, vr: CommandHost) -> None:
    assert vr.run("zoo", "fail", code).code == EXITS.get(code, 1)
    assert vr.run("zoo", "fail", code, "--retryable").code == EXITS.get(code, 75)


def test_an_error_goes_to_stderr(vr: CommandHost) -> None:
    ended = vr.run("zoo", "fail", "QUOTA")
    assert ended.stdout == ""
    assert ended.stderr == "Error: It failed as told.\nHint: Tell it something else.\n"


def test_an_error_is_json_too(vr: CommandHost) -> None:
    ended = vr.run("zoo", "fail", "QUOTA", "--retry-after", "1.5", "--json")
    error = ended.data["error"]
    assert error.pop("call_id")
    assert error == {
        "code": "QUOTA",
        "category": "TOLD",
        "message": "It failed as told.",
        "hint": "Tell it something else.",
        "retryable": False,
        "retry_after_seconds": 1.5,
    }
    assert "Hint: Tell it something else." in ended.stderr


@pytest.mark.parametrize("tool", ["crash", "misfit", "exit"])
def test_a_tool_that_fails_badly(tool: str, vr: CommandHost) -> None:
    ended = vr.run("zoo", tool)
    assert (ended.code, ended.stdout) == (1, "")
    assert "failed unexpectedly" in ended.stderr
    assert "Hint: The server's log has the details" in ended.stderr


def test_progress_goes_to_stderr(vr: CommandHost) -> None:
    ended = vr.run("zoo", "climb", "--steps", "1", "--steps", "2", "--total", "4", "--json")
    assert ended.data == {"done": True}
    assert ended.stderr.splitlines() == ["25 % step 1", "50 % step 2"]


def test_remarks_go_to_stderr(vr: CommandHost) -> None:
    ended = vr.run("zoo", "paint", "sky", "--json")
    assert Path(ended.data["path"]).read_text("utf-8") == "sky"
    assert ended.stderr == "Note: The paint is wet.\n"


def test_noise_of_a_tool_does_not_mix_with_its_result(vr: CommandHost) -> None:
    ended = vr.run("zoo", "shout", "--json")
    assert ended.data == {"done": True}
    assert "noise: child" in ended.stderr
    assert "noise: print" in ended.stderr


def test_noise_at_import_does_not_mix_with_a_list(zoo: Zoo) -> None:
    ended = run(zoo, "plugin", "list", "--json")
    assert {row["name"] for row in ended.data["plugins"]} >= {"infra", "noisy", "zoo"}
    assert "noise: descriptor" in ended.stderr


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_hard_text_is_printed(as_json: list[str], vr: CommandHost) -> None:
    surrogate = vr.run("zoo", "mutter", "surrogate", *as_json)
    assert surrogate.code == 0
    assert "caf?" in surrogate.stdout
    assert "Error: No such file: caf" in vr.run("zoo", "mutter", "error", *as_json).stderr
    noise = vr.run("zoo", "mutter", "noise", *as_json)
    assert noise.code == 0
    assert not {"\x00", "\x1b"} & set(noise.stdout)


@posix
@pytest.mark.parametrize("where", ["here", pytest.param("thread", marks=pytest.mark.slow)])
def test_an_interrupt_ends_a_tool(where: str, zoo: Zoo, tmp_path: Path) -> None:
    with start(zoo, "zoo", "wait", str(tmp_path), "--where", where) as process:
        assert process.stderr
        assert any("waiting" in line for line in iter(process.stderr.readline, ""))
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=10)
    assert (process.returncode, stdout) == (130, "")
    assert "Interrupted" in stderr
    assert "Traceback" not in stderr
    assert (tmp_path / "cancelled").exists()


@posix
@pytest.mark.parametrize(
    "arguments",
    [
        ["zoo", "flood", "30000"],
        *(
            pytest.param(arguments, marks=pytest.mark.slow)
            for arguments in (["--help"], ["plugin", "list"], ["zoo", "--help"])
        ),
    ],
)
def test_a_reader_that_leaves_is_no_fault(arguments: list[str], zoo: Zoo) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        ended = subprocess.run(
            vr_command(*arguments),
            env=zoo.environment(),
            cwd=zoo.work,
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert "noise" in ended.stderr or ended.stderr == ""
    assert "Error" not in ended.stderr
    assert "Traceback" not in ended.stderr


# Configuration.


def origins(ended: Ended, section: str) -> dict[str, tuple[Any, str]]:
    """Value and origin of each setting of a section."""
    assert ended.code == 0, ended.stderr
    return {key: (s["value"], s["origin"]) for key, s in ended.data[section].items()}


def test_config_show_says_where_each_setting_comes_from(fresh: Zoo) -> None:
    (fresh.folder / "config").mkdir()
    file = fresh.folder / "config" / "config.toml"
    file.write_text('[kernel]\nlog_level = "error"\n[store]\nworkspace = "mine"\n', "utf-8")
    ended = run(
        fresh, "--set", "store.workspace=yours", "config", "show", "--origin", "--json",
        VR_ZOO__FOOD="oats",
    )  # fmt: skip
    assert origins(ended, "plugins.zoo") == {"food": ("oats", "variable VR_ZOO__FOOD")}
    assert origins(ended, "kernel")["log_level"] == ("error", str(file))
    assert origins(ended, "kernel")["strict"] == (False, "default")
    assert origins(ended, "kernel")["plugins"] == (["zoo"], "variable VR_PLUGINS")
    assert origins(ended, "store")["workspace"] == ("yours", "--set store.workspace")


def test_config_show_names_who_shares(fresh: Zoo) -> None:
    shared = {
        "VR_KERNEL__SERVE__TOKENS": "anna:anna-secret-0123456789,ben:ben-secret-0123456789",
        "VR_KERNEL__SERVE__SHARED_WORKSPACES": '["team"]',
        "VR_KERNEL__SERVE__WORKSPACES": '{"ben": "team", "anna": "team"}',
    }
    told = run(fresh, "config", "show", "--json", **shared).data["kernel.serve"]
    assert told["shared_workspaces"]["value"] == ["team"]
    assert told["shared_workspaces"]["tokens"] == {"team": ["anna", "ben"]}
    said = run(fresh, "config", "show", **shared).stdout
    assert "Shared workspace team: anna, ben" in said
    own = run(fresh, "config", "show", **shared, VR_STORE__WORKSPACE="team").stdout
    assert "Shared workspace team (the owner's own): anna, ben" in own


def test_config_show_for_people(vr: CommandHost) -> None:
    plain, with_origin = vr.run("config", "show"), vr.run("config", "show", "--origin")
    assert '[plugins.zoo]\nfood = "hay"\n' in plain.stdout
    assert 'food = "hay"  # default\n' in with_origin.stdout


@pytest.mark.slow
def test_a_project_is_heard_once_it_is_trusted(fresh: Zoo) -> None:
    project = fresh.work / "vr.toml"
    project.write_text('[plugins.zoo]\nfood = "bread"\n', "utf-8")
    assert run(fresh, "zoo", "feed").stdout == "Fed with hay.\n"
    early = run(fresh, "config", "trust", str(fresh.folder))
    assert "there is none yet" in early.stdout
    for _ in range(2):
        trusted = run(fresh, "config", "trust", ".")
        assert trusted.code == 0
        assert "vr.toml is trusted.\n" in trusted.stdout
    assert run(fresh, "zoo", "feed").stdout == "Fed with bread.\n"
    ended = run(fresh, "config", "show", "--json", "--origin")
    assert origins(ended, "plugins.zoo") == {"food": ("bread", str(project))}


BROKEN = {
    "no TOML": ("[kernel\n", ["config.toml", "not valid TOML"]),
    "unknown section": ("[kernal]\n", ["kernal", "Did you mean 'kernel'"]),
    "unknown key": ("[kernel]\nlog_levle = 'info'\n", ["log_levle", "Did you mean 'log_level'"]),
    "wrong value": ("[kernel]\nlog_level = 'loud'\n", ["log_level", "config.toml"]),
    "no section": ("kernel = 3\n", ["kernel", "section"]),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_configuration_exits_with_3(what: str, vr: CommandHost, zoo: Zoo) -> None:
    text, says = BROKEN[what]
    folder = zoo.folder / "config"
    folder.mkdir(exist_ok=True)
    file = folder / "config.toml"
    file.write_text(text, "utf-8")
    try:
        for command in (["zoo", "echo", "hi"], ["plugin", "list"], ["serve"], ["config", "show"]):
            ended = vr.run(*command)
            assert (ended.code, ended.stdout) == (3, ""), command
            for part in [*says, "Hint: "]:
                assert part in ended.stderr
        assert vr.run("--help").code == 0
    finally:
        file.unlink()


@pytest.mark.parametrize(
    ("setting", "says"),
    [("log_level=x", "section"), ("kernel.levl=1", "log_level"), ("kernel.strict=5x", "strict")],
)
def test_a_broken_flag_exits_with_3(setting: str, says: str, vr: CommandHost) -> None:
    ended = vr.run("--set", setting, "plugin", "list")
    assert (ended.code, ended.stdout) == (3, "")
    assert says in ended.stderr


def test_a_broken_section_of_a_plugin_takes_out_that_plugin(vr: CommandHost) -> None:
    ended = vr.run("--set", "plugins.zoo.fodder=hay", "plugin", "list", "--json")
    assert ended.code == 1
    states = {row["name"]: row for row in ended.data["plugins"]}
    assert states["zoo"]["state"] == "broken"
    assert "Did you mean 'food'" in states["zoo"]["reason"]
    assert states["noisy"]["state"] == "loaded"


def test_plugin_list_for_people(vr: CommandHost) -> None:
    ended = vr.run("plugin", "list")
    assert ended.code == 0
    _, _, zoo = ended.stdout.partition("zoo ")
    assert zoo.split()[:3] == ["1.2.3", "loaded", "tools:"]
    assert "zoo_echo" in zoo
    assert "commands: picnic, zoo feed, zoo lost" in zoo
    assert max(map(len, ended.stdout.splitlines())) <= 80
