"""Views of strangers at a terminal: a command is safe to copy, an error is short."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command_fork import FreshVr
from plugin_zoo import Zoo, vr_command
from zoo_animals import GALLERY

pytest.importorskip("rich")
LONG = "title " * 5_000


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    return Zoo(tmp_path_factory.mktemp("zoo")).add(GALLERY)


@pytest.fixture
def vr(zoo: Zoo) -> FreshVr:
    return FreshVr(zoo.environment(COLUMNS="100"), zoo.work)


def kept(folder: Path, *blocks: Mapping[str, Any], **view: Any) -> str:
    """The path of a view that was written by hand."""
    file = folder / "view.json"
    file.write_text(json.dumps({"title": "View", "blocks": blocks, **view}))
    return str(file)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_each_word_of_a_command_is_quoted(encoding: str, vr: FreshVr, tmp_path: Path) -> None:
    arguments = {"a b;c": "d", "at": "2026-11-25T10:00:00Z", "e": "\u2019; id #", "f": "g\nh"}
    action = {"block": "Action", "tool": "$(touch x);id", "arguments": arguments}
    vr.environment["PYTHONIOENCODING"] = encoding
    command = vr_command("show", kept(tmp_path, action))
    done = subprocess.run(
        command, env=vr.environment, cwd=vr.folder, capture_output=True, check=True
    )
    shown = done.stdout.decode(encoding).removeprefix("View")
    curly = "\u2019" if encoding == "utf-8" else "'"
    assert shlex.split(shown) == [
        "vr", "$(touch x);id", "--a b;c", "d", "--at", arguments["at"],
        "--e", f"{curly}; id #", "--f", "g\nh",
    ]  # fmt: skip


def test_a_long_command_is_whole_or_named(vr: FreshVr, tmp_path: Path) -> None:
    file = kept(tmp_path, {"block": "Action", "tool": "a_b", "arguments": {"c": LONG}})
    assert vr.run("show", file).stdout == "View\n\nMore: command. See --full or -o FILE.\n"
    assert len(vr.run("show", file, "--full").stdout) > len(LONG)


def test_an_error_names_the_beginning_of_long_titles(vr: FreshVr) -> None:
    for number in range(2):
        about = f"https://example.org/{number}"
        noted = ["--about", about, "--text", "It rains.", "--title", f"Clouds {number} {LONG}"]
        assert vr.run("gallery", "note", *noted).code == 0
    ended = vr.run("show", "clouds")
    assert "may be 2 things" in ended.stderr
    assert "(Clouds 0 title title" in ended.stderr
    assert len(ended.stderr) < 500
