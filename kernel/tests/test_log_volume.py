"""Volume of a log: what repeats itself is counted, and no flood fills a disk."""

from __future__ import annotations

import io
import json
import logging
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vr_kernel.log import Log
from vr_kernel.text.log_lines import (
    BURST_BYTES,
    BYTES_A_SECOND,
    LINE_BYTES,
    SAME_LINES,
    WINDOW_S,
    Lines,
    Volume,
)

SECRET = "hunter2-hunter2"


class Clock:
    """Seconds that a test lets pass."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Book:
    """A log of lines in memory."""

    def __init__(self, *, as_json: bool = True) -> None:
        self.clock = Clock()
        self.file = io.StringIO()
        self.lines = Lines(
            as_json=as_json,
            clean=lambda text: text.replace(SECRET, "[secret]"),
            volume=Volume(clock=self.clock),
            stream=self.file,
        )

    def warn(self, event: str, times: int = 1, **fields: Any) -> None:
        """Write a warning so many times."""
        for _ in range(times):
            self.lines.write(logging.WARNING, event, fields, event)

    def events(self) -> list[str]:
        """Lines that were written."""
        return [json.loads(line)["event"] for line in self.file.getvalue().splitlines()]


def test_what_repeats_itself_is_counted() -> None:
    book = Book()
    book.warn("it broke", 1000)
    assert book.events() == ["it broke"] * SAME_LINES
    book.warn("another broke")
    assert book.events()[-1] == "another broke"
    book.clock.now += WINDOW_S
    book.warn("it broke")
    *_, told, again = book.events()
    assert told == f"it broke … said {1000 - SAME_LINES} times more in the last {WINDOW_S:.0f} s"
    assert again == "it broke"


def test_what_is_counted_is_told_at_the_end() -> None:
    book = Book()
    book.warn("it broke", SAME_LINES + 7)
    book.lines.tell_counted(all_of_them=True)
    assert "said 7 times more" in book.events()[-1]
    book.lines.tell_counted(all_of_them=True)
    assert len(book.events()) == SAME_LINES + 1


def test_no_flood_keeps_another_kind_from_being_written() -> None:
    book = Book()
    for _ in range(20):
        book.warn("long", SAME_LINES, text="x" * 60_000)
        for _ in range(1000):
            book.lines.write(logging.INFO, "asked", {"text": "y" * 1000}, "asked")
    assert len(book.file.getvalue()) < BURST_BYTES
    book.warn("another broke")
    assert book.events()[-1] == "another broke"


def test_kinds_without_end_are_written_within_bounds() -> None:
    book = Book()
    for number in range(5_000):
        book.warn(f"kind {number}", text="x" * 100)
        book.clock.now += 0.04
    seconds = 200
    assert len(book.file.getvalue()) < BURST_BYTES + seconds * BYTES_A_SECOND + LINE_BYTES
    assert any(event.startswith("other lines … said") for event in book.events())


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize(
    "fields",
    [
        {"text": "x" * 10_000_000},
        {"texts": ["x" * 5_000] * 1_000},
        {"many": list(range(1_000_000))},
        {f"name{n}": "x" * 5_000 for n in range(100)},
    ],
    ids=["text", "texts", "numbers", "fields"],
)
def test_a_line_has_a_length(fields: dict[str, Any], *, as_json: bool) -> None:
    book = Book(as_json=as_json)
    book.warn("it broke" + "!" * 100_000, **fields)
    written = book.file.getvalue()
    assert "it broke!!" in written
    assert "characters" in written
    assert len(written) <= LINE_BYTES + 1


def test_no_half_of_a_secret_is_left_where_a_line_is_cut() -> None:
    for before in range(4_000, 4_100):
        book = Book()
        book.warn("it broke", text="x" * before + SECRET + "y" * 100_000)
        assert "hunter2" not in book.file.getvalue()


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 30)), max_size=200))
def test_every_line_is_written_or_counted(said: list[tuple[int, float]]) -> None:
    book = Book()
    for kind, pause in said:
        book.warn(f"kind {kind}", 20)
        book.clock.now += pause
    book.lines.tell_counted(all_of_them=True)
    written = [event for event in book.events() if "… said" not in event]
    counted = [re.search(r"said ([\d,]+) times", e) for e in book.events() if "… said" in e]
    more = sum(int(found[1].replace(",", "")) for found in counted if found)
    assert len(written) + more == 20 * len(said)


def test_a_log_that_cannot_be_written_harms_no_call() -> None:
    class Full(io.StringIO):
        def write(self, _text: str) -> int:
            raise OSError(28, "No space left on device")

    for stream in (Full(), io.StringIO()):
        lines = Lines(as_json=True, clean=str, volume=Volume(), stream=stream)
        stream.close()
        lines.write(logging.ERROR, "it broke", {}, "it broke")


def test_libraries_write_into_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    library = logging.getLogger("some.library")
    library.addHandler(logging.StreamHandler(io.StringIO()))
    library.propagate = False
    log = Log("warning", "json", redact=lambda text: text.replace(SECRET, "[secret]"))
    with log.of_libraries():
        library.info("nothing of note")
        for number in range(SAME_LINES + 5):
            library.warning("no %s for %d", SECRET, number)
        try:
            {}[SECRET]
        except KeyError:
            library.exception("it broke\x1b[31m")
    log.tell_counted()
    first, *_, broken, counted = map(json.loads, capfd.readouterr().err.splitlines())
    assert (first["event"], first["logger"]) == ("no [secret] for 0", "some.library")
    assert first["level"] == "warning"
    assert broken["event"] == "it broke"
    assert "KeyError: '[secret]'" in broken["exception"]
    assert "said 5 times more" in counted["event"]
    assert not library.propagate
    assert [type(each) for each in library.handlers] == [logging.StreamHandler]
    library.handlers.clear()
    library.propagate = True
