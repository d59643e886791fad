"""Results at a terminal and in a pipe: fitted to any window, in summary, in signs it can show."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_fork import FreshVr
from plugin_zoo import Zoo, vr_command
from typed_terminal import shown_at, terminal
from zoo_animals import GALLERY

rich = pytest.importorskip("rich.cells")
ON_POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo terminals")
WIDTHS = [20, 40, 80, 200]
LINK = re.compile(r"\x1b\]8;[^;\x1b]*;[!-~]*\x1b\\")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
HOSTILE = [
    "\x1b[2J\x1b[31mred\x1b]0;title\x07",
    "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "\x9b31m c1 \x90q\x9c \x07\x08\r\x0b",
    "[bold red]markup[/] [link=evil]x[/link] :smile: {x} %s",
    "bidi \u202egnp.exe\u202c \u2066x\u2069 \u200b\ufeff",
    "half \ud83d and \ude00, 世界 👩‍👩‍👧 e\u0301\u0301\u0301",
    "\n\n# head\n- item\n```\ncode\n\t\ttabs\n| a | b |",
]


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    """The gallery."""
    return Zoo(tmp_path_factory.mktemp("zoo")).add(GALLERY)


@pytest.fixture
def vr(zoo: Zoo) -> FreshVr:
    """Runs `vr` into a file, which is no terminal."""
    return FreshVr(zoo.environment(), zoo.work)


def plain(shown: str) -> str:
    """The text that a reader sees: the last state of each line, without colours and links."""
    lines = COLOUR.sub("", LINK.sub("", shown)).split("\n")
    seen = (line.rpartition("\r")[2].replace("\x1b[K", "") for line in lines)
    return "\n".join(line.rstrip() for line in seen)


def widest(shown: str) -> int:
    """Columns of the longest line."""
    return max(rich.cell_len(line) for line in plain(shown).split("\n"))


@ON_POSIX
@pytest.mark.parametrize("columns", WIDTHS)
def test_nothing_is_wider_than_the_window(columns: int, zoo: Zoo) -> None:
    for full in ([], ["--full"]):
        ended = shown_at(zoo, columns, "gallery", "all", *full)
        assert ended.code == 0
        shown = ended.stdout.split("Note: ")[0]
        assert widest(shown) <= columns
        assert COLOUR.search(shown)
        assert ("More: " in shown) is not full
        assert ("\x1b]8;" in shown) is True


@pytest.mark.parametrize("columns", WIDTHS)
def test_a_pipe_gets_the_same_layout_without_colour(columns: int, zoo: Zoo, vr: FreshVr) -> None:
    vr.environment["COLUMNS"] = str(columns)
    piped = vr.run("gallery", "all")
    assert "\x1b" not in piped.stdout
    assert widest(piped.stdout) <= columns
    if sys.platform != "win32":
        seen = plain(shown_at(zoo, columns, "gallery", "all").stdout)
        assert seen.startswith(piped.stdout)


def test_without_a_window_it_is_80_columns(vr: FreshVr) -> None:
    vr.environment.pop("COLUMNS", None)
    assert 70 < widest(vr.run("gallery", "all").stdout) <= 80


def test_a_summary_names_what_it_leaves_out(vr: FreshVr) -> None:
    vr.environment.pop("COLUMNS", None)
    said = vr.run("gallery", "all", "--text", "Short.").stdout
    more = " ".join(said.partition("More: ")[2].split())
    assert "key points (20 moments)" in more
    assert "table (20 rows)" in more
    assert "transcript (43 lines)" in more
    assert "--full" in more
    assert "0:03  Short.: Short." not in said
    full = vr.run("gallery", "all", "--text", "Short.", "--full").stdout
    assert "More: " not in full
    assert len(re.findall(r"\d:\d\d  Short\.: Short\.", full)) == 43
    assert len(full.splitlines()) > 2 * len(said.splitlines())


def keep(vr: FreshVr, *blocks: dict[str, Any], title: str = "Kept") -> str:
    """Write a view as a file, and return its name."""
    (vr.folder / "kept.json").write_text(json.dumps({"title": title, "blocks": blocks}), "utf-8")
    return "kept.json"


def test_a_summary_lays_out_no_more_than_it_shows(vr: FreshVr) -> None:
    long = {"block": "Prose", "text": "word " * 400_000}
    facts = {"block": "Facts", "rows": [["x", "y"]]}
    shown = vr.run("show", keep(vr, long, *[facts] * 300, title="t" * 30_000)).stdout
    assert len(shown) < 10_000
    assert "More: long lines, text, 101 parts." in " ".join(shown.split())


def test_every_word_of_a_command_is_quoted(vr: FreshVr) -> None:
    given = {"a b;c": "d"}
    kept = keep(vr, {"block": "Action", "tool": "$(touch x);id", "arguments": given})
    assert "vr '$(touch x);id' '--a b;c' d" in vr.run("show", kept).stdout


@ON_POSIX
@pytest.mark.parametrize("address", ["file://evil.example/x", "file:////evil.example/x"])
def test_a_file_of_another_machine_is_no_link(address: str, zoo: Zoo, vr: FreshVr) -> None:
    kept = keep(vr, {"block": "Facts", "rows": [["x", {"address": address, "label": "here"}]]})
    assert "\x1b]8;" not in shown_at(zoo, 80, "show", kept).stdout
    assert vr.run("show", kept, "-o", "kept.md", "--force").code == 0
    assert "evil.example" not in (vr.folder / "kept.md").read_text("utf-8")


def test_a_width_that_no_window_has_is_bounded(zoo: Zoo) -> None:
    vr = FreshVr(zoo.environment(COLUMNS="99999999999"), zoo.work)
    shown = vr.run("show", keep(vr, {"block": "Prose", "text": "Foxes."}))
    assert (shown.stdout, shown.stderr) == ("Kept\n\nFoxes.\n", "")


def test_a_lone_picture_is_shown_with_its_text(vr: FreshVr) -> None:
    slide = {"image": "", "caption": "Results", "text": "Recall rose.\nCost fell."}
    for name, slides in (("one", [slide]), ("two", [slide, slide])):
        view = {"title": "A slide", "blocks": [{"block": "Pictures", "items": slides}]}
        (vr.folder / f"{name}.json").write_text(json.dumps(view), "utf-8")
    assert "Recall rose.\n" in vr.run("show", "one.json").stdout
    assert "Recall" not in vr.run("show", "two.json").stdout


def test_a_hit_is_cut_at_a_word_and_names_its_source_in_any_window(vr: FreshVr) -> None:
    hit = {
        "title": "A title that takes its room",
        "text": "We take the dot product and divide " * 8,
        "place": {"start": 38.0, "end": 46.0},
        "facts": ["speech", "practice.mp4"],
        "id": "VideoSegments/7d228e98",
    }
    view = {"title": "Hits", "blocks": [{"block": "Records", "items": [hit]}]}
    (vr.folder / "hits.json").write_text(json.dumps(view), "utf-8")
    for columns, lines in ((34, 4), (40, 4), (47, 4), (64, 3), (80, 3)):
        vr.environment["COLUMNS"] = str(columns)
        said = vr.run("show", "hits.json").stdout
        _, shown = said.split("\n\n", 1)
        assert len(shown.splitlines()) <= lines, shown
        assert widest(shown) <= columns
        assert "practice.mp4" in shown
        ends = {part.split()[-1] for part in shown.split("…")[:-1]}
        assert ends <= {*f"{hit['title']} {hit['text']}".split()}, "no part of a word"


def test_a_result_without_a_view_is_readable(vr: FreshVr) -> None:
    said = vr.run("gallery", "plain")
    assert said.code == 0
    assert said.stdout.startswith("Plain things\n")
    assert not re.search("[0-9a-f]{64}", said.stdout)
    assert ".123" not in said.stdout
    assert "2026-11-25 22:55" in said.stdout
    assert "bytes jpg" in said.stdout
    assert len(said.stdout.splitlines()) <= 90
    full = vr.run("gallery", "plain", "--full").stdout
    assert full.count("thing ") == 30
    assert re.search(r"artifacts/[0-9a-f]{64}\.jpg", "".join(full.split()))
    assert (
        json.loads(vr.run("gallery", "plain", "--json").stdout)["digest"] == "0123456789abcdef" * 4
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_only_signs_that_arrive_are_drawn(encoding: str, vr: FreshVr) -> None:
    environment = {**vr.environment, "PYTHONIOENCODING": encoding, "COLUMNS": "60"}
    said = FreshVr(environment, vr.folder)
    command = vr_command("gallery", "all", "--text", "Plain.")
    done = subprocess.run(
        command, env=said.environment, cwd=said.folder, capture_output=True, check=True
    )
    text = done.stdout.decode(encoding)
    assert "?" not in text.replace("? next", ""), text
    assert ("✓" in text) is (encoding == "utf-8")
    assert text.isascii() is (encoding != "utf-8")
    assert max(map(len, text.splitlines())) <= 60


@ON_POSIX
def test_colour_is_asked_for_and_refused(zoo: Zoo, vr: FreshVr) -> None:
    for refused in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}):
        shown = shown_at(zoo, 80, "gallery", "all", **refused).stdout
        assert not COLOUR.search(shown)
        assert "\x1b]" not in shown
    forced = FreshVr(zoo.environment(FORCE_COLOR="1"), vr.folder).run("gallery", "all").stdout
    assert COLOUR.search(forced)
    assert "\x1b]" not in forced, "a link is for a terminal alone"


@ON_POSIX
@pytest.mark.parametrize("text", HOSTILE)
def test_no_sequence_of_a_text_reaches_the_terminal(text: str, zoo: Zoo) -> None:
    given = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()
    for full in ([], ["--full"]):
        ended = shown_at(zoo, 60, "gallery", "hostile", given, *full)
        assert ended.code == 0
        seen = plain(ended.stdout)
        unseen = [sign for sign in seen if not (sign.isprintable() or sign in "\n\t\u200d")]
        assert not unseen
        links = re.findall(r"\x1b\]8;[^;]*;([^\x1b]*)\x1b", ended.stdout)
        assert {*links} <= {"", "https://example.org/talk"}
        assert widest(ended.stdout.split("Note: ")[0]) <= 60
        if text.startswith("["):
            assert "[bold red]" in " ".join(seen.split())


def test_a_document_stands_alone_in_a_pipe(vr: FreshVr) -> None:
    said = vr.run("gallery", "document")
    assert said.stdout == "1\n00:00:01,000 --> 00:00:02,000\nHello\n"
    assert said.stderr == "one word · by hand\n"
    part = vr.run("gallery", "document", "--format", "text", "--cursor", "b3")
    assert part.stdout == "Hello\n"
    assert part.stderr == "one word · by hand\nNote: The `--cursor b3` goes on.\n"
    plain_part = vr.run("gallery", "page")
    assert plain_part.stdout == "One\n"
    assert plain_part.stderr == "Note: This is a part; `--cursor two` goes on.\n"


@ON_POSIX
@pytest.mark.parametrize("columns", [30, 40, 80])
def test_remarks_and_hints_are_folded_for_a_terminal_alone(
    columns: int, zoo: Zoo, vr: FreshVr
) -> None:
    said = f"A long remark says `vr it` {'and then a little more ' * 5}of it."
    hostile = base64.b64encode(said.encode()).decode()
    wrong = ["gallery", "make", "-o", "there/is/no/folder/for/a/file/of/such/a/name.md"]
    for words in (["gallery", "hostile", hostile], wrong):
        seen = plain(shown_at(zoo, columns, *words).stdout)
        remarks = seen[max(seen.find("Note: "), seen.find("Error: ")) :]
        assert all(len(line) <= columns for line in remarks.splitlines() if " " in line.strip())
        in_a_pipe = vr.run(*words).stderr
        assert " ".join(remarks.split()) == " ".join(in_a_pipe.split())
        assert len(in_a_pipe.splitlines()) == (1 if words != wrong else 2)


@ON_POSIX
def test_a_document_is_shown_as_a_view_at_a_terminal(zoo: Zoo) -> None:
    seen = plain(shown_at(zoo, 80, "gallery", "document").stdout)
    assert "A document" in seen
    assert "0:01  Anna: Hello again" in seen
    assert "-->" not in seen


def test_a_view_that_fails_says_so_and_costs_no_result(vr: FreshVr) -> None:
    said = vr.run("gallery", "fail")
    assert said.code == 0
    assert "shown all the same" in said.stdout
    assert "The view of `vr gallery fail` in plugin gallery failed." in said.stderr


@ON_POSIX
def test_a_closed_terminal_ends_it_quietly(zoo: Zoo, tmp_path: Path) -> None:
    with terminal() as (ours, theirs), (tmp_path / "errors").open("wb") as errors:
        process = subprocess.Popen(
            vr_command("gallery", "all"),
            env=zoo.environment(),
            cwd=zoo.work,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=errors,
            start_new_session=True,
        )
        os.close(theirs)
        os.dup2(errors.fileno(), ours)
        assert process.wait() == 1
    assert (tmp_path / "errors").read_text("utf-8") == ""


@ON_POSIX
def test_a_closed_pipe_ends_it_quietly(zoo: Zoo, tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    line = '"$@" 2>"$ERRORS" | head -n 1'
    command = [
        "sh",
        "-c",
        line,
        "sh",
        *vr_command("gallery", "all", "--full", "--text", "x" * 9000),
    ]
    done = subprocess.run(
        command,
        env=zoo.environment(ERRORS=str(errors)),
        cwd=zoo.work,
        capture_output=True,
        check=True,
    )
    assert done.stdout.startswith(b"x")
    assert "Traceback" not in errors.read_text("utf-8")
