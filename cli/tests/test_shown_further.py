"""A result at a terminal says in options and commands how one goes on from it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from command_host import CommandHost
from plugin_zoo import Animal, Zoo

SHELF = Animal(
    "shelf",
    """
from typing import Annotated

from pydantic import BaseModel, Field
from vr_kernel import READ_ONLY, Call, hookimpl, tool
from vr_kernel.views import Item, Records, View, view

class Found(BaseModel):
    books: list[str]
    total: int
    next_cursor: str | None = None

Limit = Annotated[int, Field(ge=1, le=3)]

@tool(effects=READ_ONLY)
async def shelf_find(call: Call, max_books: Limit = 2, cursor: str | None = None) -> Found:
    '''Find books.'''
    books = ["Walden", "Emma", "Ulysses", "Hamlet"][:max_books]
    return Found(books=books, total=4, next_cursor="c7")

@tool(effects=READ_ONLY)
async def shelf_fill_up(call: Call) -> Found:
    '''Fill the shelf.'''
    return Found(books=[], total=4)

@view(tool="shelf_find")
async def show(services, found: Found) -> View:
    '''The books.'''
    notes = ["shelf_fill_up adds some.", f"cursor {found.next_cursor} goes on."]
    return View("Books", [Records([Item(it) for it in found.books], found.total)], notes=notes)

@hookimpl
def vr_tools():
    return [shelf_find, shelf_fill_up]

@hookimpl
def vr_views():
    return [show]
""",
)


@pytest.fixture(scope="module")
def vr(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandHost]:
    """Runs command lines of a shelf."""
    zoo = Zoo(tmp_path_factory.mktemp("shelf")).add(SHELF)
    host = CommandHost(zoo.environment(), zoo.work)
    yield host
    host.close()


def test_what_is_not_in_an_answer_is_named_with_the_option_that_shows_it(vr: CommandHost) -> None:
    few = vr.run("shelf", "find").stdout
    assert "2 more are not in this answer; --max-books N shows more." in few
    most = vr.run("shelf", "find", "--max-books", "3").stdout
    assert most.endswith("1 more is not in this answer.\n"), "the option takes no higher number"


def test_remarks_name_commands_and_options(vr: CommandHost) -> None:
    said = vr.run("shelf", "find").stderr
    assert "Note: `vr shelf fill-up` adds some." in said
    assert "Note: `--cursor c7` goes on." in said


def test_a_file_has_no_words_of_the_terminal(vr: CommandHost) -> None:
    assert vr.run("shelf", "find", "-o", "books.md").code == 0
    text = (vr.folder / "books.md").read_text("utf-8")
    assert "2 more are not shown here." in text
    assert "--" not in text
