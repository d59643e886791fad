"""At a terminal the beginning of an id is enough, where only one id begins so."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_fork import FreshVr
from command_host import CommandHost
from plugin_zoo import Animal, Zoo
from typed_terminal import at_terminal

FIRST, SECOND = "abcd" + "0" * 28, "abce" + "0" * 28
LIBRARY = Animal(
    "library",
    f"""
from pydantic import BaseModel
from vr_kernel import DESTRUCTIVE, READ_ONLY, Call, Record, RecordKind, hookimpl, tool
from vr_kernel import RecordField

class Card(BaseModel):
    card_id: str

class Cards(BaseModel):
    cards: list[Card]

class Note(BaseModel):
    object_id: str

@tool(effects=READ_ONLY)
async def library_list_cards(call: Call) -> Cards:
    '''List cards.'''
    return Cards(cards=[Card(card_id=each) for each in ("{FIRST}", "{SECOND}")])

@tool(effects=READ_ONLY)
async def library_show_card(call: Call, card_id: str) -> Card:
    '''Show a card.'''
    return Card(card_id=card_id)

@tool(effects=READ_ONLY)
async def library_write(call: Call, key: str) -> Note:
    '''Write a note.'''
    call.record(Record("Notes", {{"text": key}}, key=key))
    return Note(object_id=key)

@tool(effects=READ_ONLY)
async def library_read(call: Call, object_id: str, collection: str) -> Note:
    '''Read a note.'''
    return Note(object_id=object_id)

@tool(effects=READ_ONLY)
async def library_tear(call: Call, object_ids: list[str]) -> Note:
    '''Tear notes.'''
    return Note(object_id=" ".join(object_ids))

@tool(effects=DESTRUCTIVE)
async def library_burn(call: Call, object_ids: list[str], confirm: bool = False) -> Note:
    '''Burn notes.'''
    for each in object_ids:
        call.forget("Notes", each)
    return Note(object_id=" ".join(object_ids))

@hookimpl
def vr_tools():
    writing = [library_burn, library_tear, library_write]
    return [*writing, library_list_cards, library_show_card, library_read]

@hookimpl
def vr_record_kinds():
    return [RecordKind("Notes", "Notes.", (RecordField("text", searchable=True),), rerank="text")]
""",
)


def library(folder: Path) -> Zoo:
    """The library in a folder of its own."""
    return Zoo(folder).add(LIBRARY)


@pytest.fixture(scope="module")
def vr(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandHost]:
    """Runs command lines of a library."""
    zoo = library(tmp_path_factory.mktemp("library"))
    host = CommandHost(zoo.environment(), zoo.work)
    yield host
    host.close()


@pytest.mark.parametrize(
    ("typed", "taken"),
    [
        ("abcd", FIRST),
        ("ABCE0", SECOND),
        (FIRST, FIRST),
    ],
)
def test_the_beginning_of_an_id_is_enough(typed: str, taken: str, vr: CommandHost) -> None:
    ended = vr.run("library", "show-card", typed, "--json")
    assert (ended.code, ended.data) == (0, {"card_id": taken})


@pytest.mark.parametrize(
    ("typed", "code", "says"),
    [
        ("abc", 2, "Give at least 4 characters of it. `vr library list-cards` lists"),
        ("", 2, "Give at least 4 characters"),
        ("nobody", 1, "No card begins with 'nobody'."),
    ],
)
def test_what_no_id_begins_with_is_said_to_be_none(
    typed: str, code: int, says: str, vr: CommandHost
) -> None:
    ended = vr.run("library", "show-card", typed)
    assert ended.code == code
    assert says in ended.stderr


def test_a_name_is_one_word(vr: CommandHost) -> None:
    ended = vr.run("library", "read", "eeee", "Notes", "Others")
    assert ended.code == 2
    assert "unexpected extra argument (Others)" in ended.stderr
    assert "COLLECTION is missing" in vr.run("library", "read", "eeee").stderr


def test_an_ambiguous_beginning_says_which_there_are(vr: CommandHost) -> None:
    vr.run("library", "write", "ffff-1")
    vr.run("library", "write", "ffff-2")
    ended = vr.run("library", "read", "ffff", "Notes")
    assert (ended.code, ended.stdout) == (2, "")
    assert "ffff is the beginning of 2 ids (object_id)." in ended.stderr
    assert "Give more of it: ffff-1, ffff-2." in ended.stderr


def test_a_record_is_found_among_its_kind(vr: CommandHost) -> None:
    vr.run("library", "write", "eeee-1234")
    assert vr.run("library", "read", "eeee", "Notes", "--json").data == {"object_id": "eeee-1234"}
    assert vr.run("library", "read", "eeee", "Others", "--json").data == {"object_id": "eeee"}


def test_a_record_is_named_as_lists_print_it(vr: CommandHost) -> None:
    vr.run("library", "write", "aaaa-1234")
    for typed in (
        ["Notes/aaaa"],
        ["Notes/aaaa-1234", "Notes"],
        ["Notes/aaaa", "--collection=Notes"],
    ):
        assert vr.run("library", "read", *typed, "--json").data == {"object_id": "aaaa-1234"}
    other = vr.run("library", "read", "Notes/aaaa", "Others", "--json")
    assert other.data == {"object_id": "Notes/aaaa"}, "two kinds are not one"
    assert "COLLECTION is missing" in vr.run("library", "read", "Shelves/aaaa").stderr
    assert "COLLECTION/OBJECT_ID" in vr.run("library", "read", "--help").stdout


def test_several_beginnings_are_made_whole_each_in_any_kind(vr: CommandHost) -> None:
    vr.run("library", "write", "dddd-1234")
    vr.run("library", "write", "cccc-1234")
    torn = vr.run("library", "tear", "--object-ids", "dddd", "--object-ids", "cccc", "--json")
    assert torn.data == {"object_id": "dddd-1234 cccc-1234"}


def burn(vr: CommandHost, *arguments: str) -> tuple[int, bool]:
    """The exit code of a command that burns `bbbb-1234`, and True when the note is gone."""
    vr.run("library", "write", "bbbb-1234")
    ended = vr.run("library", "burn", *arguments)
    left = vr.run("library", "tear", "--object-ids", "bbbb", "--json").data["object_id"]
    return ended.code, left == "bbbb"


@pytest.mark.parametrize("given", [["bbbb-1234"], ["bbbb", "--yes"], ["bbbb", "--confirm"]])
def test_a_whole_id_or_a_word_for_it_deletes_at_once(given: list[str], vr: CommandHost) -> None:
    first, *rest = given
    assert burn(vr, "--object-ids", first, *rest) == (0, True)


def test_nothing_is_deleted_by_its_beginning_where_nobody_can_be_asked(vr: CommandHost) -> None:
    assert burn(vr, "--object-ids", "bbbb") == (2, False)
    refused = vr.run("library", "burn", "--object-ids", "bbbb", "--json")
    assert "Notes bbbb-1234 bbbb-1234" in refused.stderr
    assert refused.data["error"]["category"] == "NOT_CONFIRMED"
    assert "--yes" in refused.data["error"]["hint"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo terminals")
def test_a_person_is_shown_what_a_beginning_means_and_asked(tmp_path: Path) -> None:
    zoo = library(tmp_path / "library")
    host = FreshVr(zoo.environment(), zoo.work)
    burn_note = ("library", "burn", "--object-ids", "bbbb")
    host.run("library", "write", "bbbb-1234")
    kept = at_terminal(zoo, "\n", *burn_note)
    assert (kept.code, kept.stdout) == (130, ""), kept
    assert "Notes bbbb-1234 bbbb-1234" in kept.stderr
    assert "Delete them for good [y/N]" in kept.stderr
    assert host.run("library", "tear", "--object-ids", "bbbb").stdout.count("1234") == 1
    assert at_terminal(zoo, "y\n", *burn_note).code == 0
    assert host.run("library", "tear", "--object-ids", "bbbb").stdout.count("1234") == 0
