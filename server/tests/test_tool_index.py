"""The index of tools alone: any request has one answer, always the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, Log, build_tool, tool
from vr_server.search.tool_index import ToolIndex
from vr_server.search.tool_words import Phrases


class Word(BaseModel):
    """A result."""

    text: str = ""


@tool(effects=READ_ONLY, core=True, aliases=["old_say"], words="pronounce it; speak up")
async def say_word(call: Call) -> Word:
    """Utter it."""
    return Word()


@tool(effects=READ_ONLY)
async def paper_find(call: Call) -> Word:
    """Look for papers."""
    return Word()


@tool(effects=READ_ONLY)
async def paper_erase(call: Call) -> Word:
    """Delete papers."""
    return Word()


FUNCTIONS = (say_word, paper_find, paper_erase)
PHRASES = Phrases(Log("info", "json"))
INDEX = ToolIndex({each.__name__: build_tool(each, "desk") for each in FUNCTIONS}, PHRASES)


@given(st.text(), st.integers(1, 4))
def test_any_request_has_one_answer(request: str, limit: int) -> None:
    found = INDEX.search(request, limit)
    assert found == INDEX.search(request, limit)
    assert len(found) == len(set(found)) <= limit


def test_what_matters_most_is_the_answer_when_nothing_fits() -> None:
    assert INDEX.search("xyzzy", 3) == ["say_word"]


def test_words_are_found_in_every_form() -> None:
    assert INDEX.search("UTTERED, please", 1) == ["say_word"]
    assert INDEX.search("paper deleting", 1) == ["paper_erase"]


def test_what_people_say_for_it_is_found() -> None:
    assert INDEX.search("how is it pronounced", 1) == ["say_word"]


def test_meaning_adds_to_words() -> None:
    near = {"paper_erase": 0.1, "paper_find": 0.2, "say_word": 0.9}
    assert INDEX.search("xyzzy", 3, near) == ["say_word", "paper_find", "paper_erase"]
    assert INDEX.search("find paper", 2, near) == ["say_word", "paper_find"]
    assert INDEX.search("find paper", 1, dict.fromkeys(near, 0.5)) == ["paper_find"]


@given(st.text(), st.lists(st.floats(-2, 2), min_size=3, max_size=3))
def test_with_meaning_every_tool_has_one_place(request: str, near: list[float]) -> None:
    likeness = dict(zip(sorted(function.__name__ for function in FUNCTIONS), near, strict=True))
    assert len(set(INDEX.search(request, 3, likeness))) == len(FUNCTIONS)


def test_a_former_name_is_found_too() -> None:
    assert INDEX.search("old", 1) == ["say_word"]


def test_equals_come_by_name() -> None:
    assert INDEX.search("paper", 2) == ["paper_erase", "paper_find"]


def test_an_index_of_nothing_finds_nothing() -> None:
    assert ToolIndex({}, PHRASES).search("anything", 5) == []


def test_a_request_of_very_many_words_has_an_answer() -> None:
    assert INDEX.search(" ".join(map(str, range(5000))) + " papers", 1) == ["paper_erase"]
