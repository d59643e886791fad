"""Record kinds: typed fields, values that every store can hold, and keys that never move."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vr_kernel import RecordField, RecordKind, VrError, entity_key

KIND = RecordKind(
    "Talks",
    "Talks.",
    (
        RecordField("title", vectorised=True, searchable=True),
        RecordField("topics", "text[]", vectorised=True),
        RecordField("speaker", searchable=True, filterable=True),
        RecordField("slides", "int", filterable=True),
        RecordField("length", "number", range=True),
        RecordField("held_at", "date", range=True),
        RecordField("public", "bool", filterable=True),
    ),
    rerank="title",
)
relaxed = settings(max_examples=40)
zones = st.timezones() | st.just(None)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "title": st.text(),
    "topics": st.lists(st.text()),
    "speaker": st.text(),
    "slides": st.integers(-(2**63), 2**63 - 1),
    "length": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**63 - 1),
    "held_at": st.datetimes(timezones=zones) | st.dates(),
    "public": st.booleans(),
}
good_fields = st.fixed_dictionaries(
    {}, optional={name: values | st.none() for name, values in VALUES.items()}
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.dates(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner),
    max_leaves=6,
)


def _outcome(validated: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any] | None, str]:
    """The accepted value, or the words of the refusal."""
    try:
        return validated(), ""
    except VrError as error:
        return None, f"{error.code.value} {error.message} {error.hint}"


@relaxed
@given(fields=good_fields)
def test_what_is_accepted_survives_json_and_is_accepted_again(fields: dict[str, Any]) -> None:
    kept, refusal = _outcome(lambda: KIND.validate(fields))
    if kept is None:
        assert "Talks.held_at" in refusal  # a zone that leads before year 1 or past 9999
        return
    assert json.loads(json.dumps(kept, allow_nan=False)) == kept
    assert KIND.validate(kept) == kept
    assert list(kept) == [name for name, value in fields.items() if value is not None]
    for name in kept.keys() - {"held_at", "length"}:
        assert kept[name] == fields[name]
    assert "length" not in kept or kept["length"] == float(fields["length"])
    assert "held_at" not in kept or _same_moment(kept["held_at"], fields["held_at"])


def _same_moment(text: str, value: date) -> bool:
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    moment = datetime.fromisoformat(text)
    return moment == (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)


@relaxed
@given(name=st.sampled_from([*VALUES, "created_at", "source_tool"]), value=anything)
def test_any_value_is_accepted_in_a_form_that_json_holds_or_refused(name: str, value: Any) -> None:
    kept, refusal = _outcome(lambda: KIND.validate({name: value}))
    if kept is None:
        assert re.fullmatch(rf"INVALID_INPUT Talks\.{name} .+\. .+", refusal)
    else:
        assert json.loads(json.dumps(kept, allow_nan=False)) == kept


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("title", 3),
        ("title", ["a"]),
        ("title", b"bytes"),
        ("title", "half \ud83c of a pair"),
        ("topics", "one text"),
        ("topics", ["a", 3]),
        ("topics", ["a", None]),
        ("topics", ["\ud800"]),
        ("topics", {"a": 1}),
        ("slides", "3"),
        ("slides", 3.0),
        ("slides", True),
        ("slides", 2**63),
        ("slides", -(2**63) - 1),
        ("length", "3.5"),
        ("length", True),
        ("length", float("nan")),
        ("length", float("inf")),
        ("length", 10**400),
        ("held_at", "yesterday"),
        ("held_at", ""),
        ("held_at", 1_700_000_000),
        ("held_at", "0001-01-01T00:00:00+05:00"),
        ("held_at", datetime.max.replace(tzinfo=timezone(-timedelta(hours=5)))),
        ("public", 1),
        ("public", "true"),
        ("created_at", "soon"),
    ],
)
def test_a_value_of_another_type_is_refused(name: str, value: Any) -> None:
    with pytest.raises(VrError) as caught:
        KIND.validate({"title": "fine", name: value})
    assert caught.value.code == "INVALID_INPUT"
    assert f"Talks.{name}" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("2026-01-31", "2026-01-31T00:00:00.000000+00:00"),
        ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000000+00:00"),
        ("2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00.000000+00:00"),
        ("20260131T120000", "2026-01-31T12:00:00.000000+00:00"),
        (date(2026, 1, 31), "2026-01-31T00:00:00.000000+00:00"),
        (datetime(2026, 1, 31, 12, tzinfo=UTC), "2026-01-31T12:00:00.000000+00:00"),
    ],
)
def test_moments_are_kept_in_one_form_that_sorts(value: Any, kept: str) -> None:
    assert KIND.validate({"held_at": value}) == {"held_at": kept}


@relaxed
@given(moments=st.lists(st.datetimes(), min_size=2, max_size=5))
def test_kept_moments_sort_like_moments(moments: list[datetime]) -> None:
    kept = [KIND.validate({"held_at": moment})["held_at"] for moment in moments]
    assert sorted(kept) == [KIND.validate({"held_at": m})["held_at"] for m in sorted(moments)]


def test_what_is_none_is_left_out_and_the_original_is_not_changed() -> None:
    fields = {"title": None, "topics": ("a", "b"), "length": 3}
    kept = KIND.validate(fields)
    assert kept == {"topics": ["a", "b"], "length": 3.0}
    assert isinstance(kept["length"], float)
    assert fields == {"title": None, "topics": ("a", "b"), "length": 3}


@pytest.mark.parametrize(
    ("name", "near"),
    [("titel", "title"), ("Topics", "topics"), ("sourcetool", "source_tool"), ("xyzzy", "")],
)
def test_an_unknown_field_names_the_nearest(name: str, near: str) -> None:
    for ask in (KIND.field, lambda given: KIND.validate({given: "x"})):
        with pytest.raises(VrError) as caught:
            ask(name)
        assert caught.value.code == "INVALID_INPUT"
        assert repr(name) in caught.value.message
        assert (f"Did you mean {near!r}?" in caught.value.hint) is bool(near)
        assert "title, topics, speaker" in caught.value.hint


def test_every_kind_has_the_common_fields() -> None:
    assert [field.name for field in KIND.all_fields][-2:] == ["created_at", "source_tool"]
    assert KIND.field("created_at").type == "date"
    assert KIND.field("slides").filterable


def test_texts_for_search_and_meaning_are_joined_in_declared_order() -> None:
    fields = {"speaker": "Ada", "topics": ["engines", "notes"], "title": "On engines"}
    assert KIND.vector_text(fields) == "On engines\nengines\nnotes"
    assert KIND.search_text(fields) == "On engines\nAda"
    assert KIND.vector_text({"title": "", "topics": []}) == KIND.search_text({}) == ""


def test_a_key_never_moves() -> None:
    """A change of it would orphan every stored record."""
    parts = ("VideoSegments", "a" * 64, 12.5)
    assert entity_key(*parts) == "88149d79-b206-5f55-b9c0-e7b095d6edba"
    other = subprocess.run(
        [sys.executable, "-c", f"from vr_kernel import entity_key; print(entity_key(*{parts!r}))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert other.stdout.strip() == entity_key(*parts)


def test_the_identity_of_a_kind_makes_keys() -> None:
    city = RecordField("city")
    facts = RecordKind("Cities", "", (city,), "city", identity=lambda f: entity_key(f["city"]))
    assert facts.identify({"city": "Ulm"}) == entity_key("Ulm")
    assert facts.identify({}) == "", "what does not say which thing it is is an event"
    assert KIND.identify({"title": "On engines"}) == ""


@relaxed
@given(one=st.lists(st.text(max_size=4)), other=st.lists(st.text(max_size=4)))
def test_keys_are_equal_only_for_equal_parts(one: list[str], other: list[str]) -> None:
    one, other = [[part.replace("\x1f", "") for part in parts] or [""] for parts in (one, other)]
    assert (entity_key(*one) == entity_key(*other)) is (one == other)


@pytest.mark.parametrize("role", ["rerank", "source", "link", "title"])
def test_a_role_needs_its_field(role: str) -> None:
    replace(KIND, **{role: "speaker"}).check()  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no field 'speeker'"):
        replace(KIND, **{role: "speeker"}).check()  # type: ignore[arg-type]
