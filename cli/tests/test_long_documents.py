"""Documents at a terminal: a long one is read page by page, and its password is typed unseen."""

from __future__ import annotations

import subprocess
import sys

import pytest
from plugin_zoo import Animal, Zoo, vr_command
from typed_terminal import shown_at

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo terminals")
SHELF = Animal(
    "shelf",
    '''
from pydantic import BaseModel, SecretStr
from vr_kernel import READ_ONLY, Call, Services, View, hookimpl, tool, view
from vr_kernel.views import Prose


class Text(BaseModel):
    """A document."""

    text: str
    next_cursor: str | None = None
    text_uri: str = ""


@tool(effects=READ_ONLY, printed=("text", "text_uri"))
async def shelf_read(call: Call, source: str, password: SecretStr | None = None) -> Text:
    """Read a book of so many lines, of which the first twenty come at once."""
    said = password.get_secret_value() if password else "none"
    lines = [f"line {number}" for number in range(int(source))]
    lines.append(f"The password has {len(said)} letters.")
    whole = "\\n".join(lines)
    if len(lines) <= 20:
        return Text(text=whole)
    uri = call.artifact(whole.encode(), "text/markdown").uri
    return Text(text="\\n".join(lines[:20]), next_cursor="20", text_uri=uri)


@tool(effects=READ_ONLY, printed=("text",))
async def shelf_hear(call: Call, source: str) -> Text:
    """Hear a book of so many lines, which its view sums up."""
    return Text(text="\\n".join(f"line {number}" for number in range(int(source))))


@view(tool="shelf_read")
async def show_book(services: Services, book: Text) -> View:
    """The book as it is."""
    return View("Book", [Prose(book.text)])


@view(tool="shelf_hear")
async def show_sum(services: Services, book: Text) -> View:
    """A sum of it."""
    return View("Book", [Prose("It has lines.")])


@hookimpl
def vr_tools() -> list[object]:
    """The tools."""
    return [shelf_read, shelf_hear]


@hookimpl
def vr_views() -> list[object]:
    """Their views."""
    return [show_book, show_sum]
''',
)


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    """The plugin above."""
    return Zoo(tmp_path_factory.mktemp("zoo")).add(SHELF)


def test_a_document_longer_than_the_window_goes_through_the_pager(zoo: Zoo) -> None:
    long = shown_at(zoo, 80, "shelf", "read", "100", PAGER="cat -n")
    assert " 100\tline 99" in long.stdout
    short = shown_at(zoo, 80, "shelf", "read", "10", PAGER="cat -n")
    assert "\nline 9\n" in short.stdout
    assert "\tline 9" not in short.stdout
    summed = shown_at(zoo, 80, "shelf", "hear", "100", PAGER="cat -n").stdout
    assert "It has lines." in summed, "the view of a tool takes the place of its document"
    assert "line 50" not in summed


@pytest.mark.parametrize("name", ["book.md", "book.txt", "book.json"])
def test_a_file_has_the_whole_of_a_document(zoo: Zoo, name: str) -> None:
    """Only JSON, which is for programs, is the part and the cursor of the next one."""
    command = vr_command("shelf", "read", "100", "-o", name)
    subprocess.run(command, env=zoo.environment(), cwd=zoo.work, capture_output=True, check=True)
    written = (zoo.work / name).read_text("utf-8")
    assert "line 19" in written
    assert ("line 99" in written) == (name != "book.json")
    assert ("next_cursor" in written) == (name == "book.json")


def test_a_program_gets_a_long_document_as_it_is(zoo: Zoo) -> None:
    done = subprocess.run(
        vr_command("shelf", "read", "100"),
        env=zoo.environment(PAGER="cat -n"),
        cwd=zoo.work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("line 0\nline 1\n")


def test_a_secret_is_typed_unseen(zoo: Zoo) -> None:
    asked = ("shelf", "read", "3", "--password", "-")
    ended = shown_at(zoo, 80, *asked, typed="sesame\n", awaits="Password:")
    assert "sesame" not in ended.stdout
    assert "The password has 6 letters." in ended.stdout


@pytest.mark.parametrize(("piped", "said"), [("open sesame\n", "11 letters"), ("", "it is empty")])
def test_a_secret_comes_from_a_pipe(zoo: Zoo, piped: str, said: str) -> None:
    done = subprocess.run(
        vr_command("shelf", "read", "3", "--password", "-"),
        env=zoo.environment(),
        cwd=zoo.work,
        input=piped,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said in done.stdout + done.stderr
    assert (done.returncode == 0) == bool(piped)
