"""A real terminal: questions of a tool, and a server that somebody starts by hand."""

from __future__ import annotations

import subprocess
import sys

import pytest
from plugin_zoo import Zoo, vr_command
from typed_terminal import at_terminal
from zoo_animals import GOOD

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo terminals")


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    """The good plugin."""
    return Zoo(tmp_path_factory.mktemp("zoo")).add(GOOD)


def test_a_tool_asks_on_the_terminal(zoo: Zoo) -> None:
    ended = at_terminal(zoo, "y\nsouth\nhungry\n", "zoo", "free", "lion", "--json")
    assert ended.code == 0, ended
    assert ended.data["url"] == "True south hungry"
    assert "Free the lion?" in ended.stderr
    assert "Really? [y/N]" in ended.stderr or "Really? [y/n]" in ended.stderr
    assert "(north, south) [north]" in ended.stderr


def test_what_does_not_fit_is_asked_again(zoo: Zoo) -> None:
    ended = at_terminal(zoo, "perhaps\ny\nwest\n\n\n", "zoo", "free", "lion", "--json")
    assert ended.data["url"] == "True north none"
    assert "invalid input" in ended.stderr
    assert "'west' is not one of" in ended.stderr


def test_end_of_input_declines(zoo: Zoo) -> None:
    ended = at_terminal(zoo, "\x04", "zoo", "free", "lion")
    assert (ended.code, ended.stdout) == (130, "")
    assert "The question was not answered." in ended.stderr


def test_without_a_terminal_the_default_counts(zoo: Zoo) -> None:
    done = subprocess.run(
        vr_command("zoo", "free", "lion", "--json"),
        env=zoo.environment(),
        cwd=zoo.work,
        input="y\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"False north none"' in done.stdout


@pytest.mark.slow
def test_a_server_says_that_it_waits_to_a_terminal_alone(zoo: Zoo) -> None:
    ended = at_terminal(zoo, "\x04", "serve")
    assert (ended.code, ended.stdout) == (0, "")
    lines = [line for line in ended.stderr.splitlines() if "Waiting for an MCP client" in line]
    assert len(lines) == 1
    quiet = subprocess.run(
        vr_command("serve"),
        env=zoo.environment(),
        cwd=zoo.work,
        input="",
        capture_output=True,
        text=True,
        check=True,
    )
    assert quiet.stdout == ""
    assert "Waiting" not in quiet.stderr
