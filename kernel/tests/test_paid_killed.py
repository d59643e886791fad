"""Tools that pay in every way there is, killed again and again: nothing is paid twice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from vr_testing import Answer, FunctionCall, RecordedRequest
from vr_testing.killed_calls import KilledCalls, PaidCall

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.skipif(os.name == "nt", reason="SIGKILL and fork are POSIX"),
]


def looking_up(request: RecordedRequest, word: str) -> Any:
    """Two calls at once, then an answer."""
    look = FunctionCall("look_up", {"what": word})
    return word if request.results else Answer(f"Wait, {word}", calls=(look, look))


CALLS = {
    "streams with calls": PaidCall("paid_loop", {"question": "Why?"}, looking_up),
    "once": PaidCall("paid_once", {"question": "Why?"}, lambda _request, word: word),
    "a batch": PaidCall(
        "paid_batch",
        {"name": "a", "items": 3, "at_once": 2},
        lambda _request, word: word,
        resumed=True,
        ordered=False,
    ),
    "a research": PaidCall(
        "paid_research", {"question": "Why?"}, lambda _request, word: word, resumed=True
    ),
}


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[KilledCalls]:
    with KilledCalls({"paid": "paid_plugin"}, tmp_path) as calls:
        yield calls


@pytest.mark.parametrize("name", CALLS)
def test_nothing_that_was_committed_is_paid_again(name: str, killed: KilledCalls) -> None:
    print(f"{killed.check(CALLS[name])} kills")  # noqa: T201
