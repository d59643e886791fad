"""An error of the kernel as an object."""

from __future__ import annotations

import re
import sys

import pytest
from vr_kernel import Code, ErrorRule, ErrorTable, Usage, VrError, extra_missing, require_extra

TABLE = ErrorTable(
    ErrorRule(
        statuses={401, 403},
        words=re.compile("invalid key"),
        code=Code.AUTH,
        message="{service} refuses the key.",
        category="KEY_REFUSED",
        hint="Set {variable}.",
    ),
    ErrorRule(
        statuses=range(500, 600),
        code=Code.UNAVAILABLE,
        message="{service} failed with {status}: {said}",
        retryable=True,
    ),
    otherwise=ErrorRule(code=Code.INVALID_INPUT, message="{service} refused it: {said}"),
)


def test_other_words_change_nothing_else() -> None:
    error = VrError(
        "Busy.",
        Code.UNAVAILABLE,
        category="SERVICE_BUSY",
        hint="Wait.",
        retryable=True,
        retry_after=3.0,
        usage=Usage(calls=2),
        detail="<html>",
    )
    error.__cause__ = OSError("reset")
    told = error.reworded("It is busy.", "Call again.")
    assert vars(told) == vars(error) | {"message": "It is busy.", "hint": "Call again."}
    assert (told.__cause__, str(told), error.message) == (error.__cause__, "It is busy.", "Busy.")


@pytest.mark.parametrize(
    ("status", "words"), [(401, ""), (400, "an invalid key"), (503, "invalid key")]
)
def test_the_first_rule_that_matches_a_status_or_words_counts(status: int, words: str) -> None:
    error = TABLE.error(status, words, service="S", variable="S_KEY")
    assert error.as_dict("") == VrError(
        "S refuses the key.", Code.AUTH, category="KEY_REFUSED", hint="Set S_KEY."
    ).as_dict("")


def test_a_pause_belongs_to_what_may_be_tried_again() -> None:
    passing = TABLE.error(500, "{odd} words", service="S", retry_after=3.0)
    assert (passing.message, passing.retryable) == ("S failed with 500: {odd} words", True)
    assert passing.retry_after == 3.0
    final = TABLE.error(404, "all words", service="S", said="some", retry_after=3.0)
    assert (final.message, final.category) == ("S refused it: some", "INVALID_INPUT")
    assert final.retry_after is None


def test_a_table_makes_errors_of_a_class_of_its_own() -> None:
    class ServiceError(VrError):
        pass

    assert type(TABLE.error(service="S", error_type=ServiceError)) is ServiceError


def test_a_missing_extra_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "absent_library", None)
    with pytest.raises(VrError) as caught:
        require_extra("absent_library", "Drawing needs absent, which is not installed.", "pip x")
    wanted = extra_missing("Drawing needs absent, which is not installed.", "pip x")
    assert caught.value.as_dict("") == wanted.as_dict("")
    assert (wanted.code, wanted.category) == (Code.UNAVAILABLE, "EXTRA_MISSING")
    assert wanted.hint == "Install it: pip x"
    assert require_extra("json", "", "") is sys.modules["json"]
