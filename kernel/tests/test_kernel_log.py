"""Logs: on stderr alone, by level, and free of what could fool a terminal or a reader."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from vr_kernel.log import Log

LEVELS = ["debug", "info", "warning", "error"]
STAMP = r"\d{4}-\d{2}-\d{2}T[\d:.]+Z"
# Terminal escapes, control characters, other line ends, reordering, zero width, tags.
INVISIBLE = "\x1b\x07\x08\r\x7f\x9b\xad\u061c\u200b\u200f\u2028\u202e\u2060\u2066\ufeff\U000e0041"


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("form", ["console", "json"])
def test_what_is_below_the_level_is_not_written(
    level: str, form: str, capfd: pytest.CaptureFixture[str]
) -> None:
    log = Log(level, form)
    for name in LEVELS:
        getattr(log, name)(f"a line of {name}")
    captured = capfd.readouterr()
    written = [name for name in LEVELS if f"a line of {name}" in captured.err]
    assert written == LEVELS[LEVELS.index(level) :]
    assert captured.out == ""


def test_a_line_for_people(capfd: pytest.CaptureFixture[str]) -> None:
    Log("info", "console").bind(plugin="video").warning("it broke", reason="no room")
    line = capfd.readouterr().err
    assert re.fullmatch(rf"{STAMP} warning: it broke plugin='video' reason='no room'\n", line)


def test_a_line_for_programs(capfd: pytest.CaptureFixture[str]) -> None:
    Log("info", "json").bind(plugin="video").info("it works", count=3, names=["a"])
    entry = json.loads(capfd.readouterr().err)
    assert re.fullmatch(STAMP, entry.pop("timestamp"))
    assert entry == {
        "event": "it works",
        "level": "info",
        "plugin": "video",
        "count": 3,
        "names": ["a"],
    }


def _log_failure(log: Log, cause: str) -> None:
    try:
        {}[cause]
    except KeyError as error:
        error.add_note(cause)
        log.exception("it broke", call_id="c-1")


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_traceback_is_written_whole(form: str, capfd: pytest.CaptureFixture[str]) -> None:
    _log_failure(Log("warning", form), "the \x1b[31mcause\x1b[0m")
    text = capfd.readouterr().err
    assert "Traceback (most recent call last)" in text
    assert "in _log_failure" in text
    assert text.replace("\\n", "\n").rstrip('}\n"').endswith("\nthe cause")
    assert "c-1" in text


@pytest.mark.parametrize("form", ["console", "json"])
@pytest.mark.parametrize("place", ["event", "value", "list", "error"])
def test_what_no_reader_sees_is_not_written(
    form: str, place: str, capfd: pytest.CaptureFixture[str]
) -> None:
    log = Log("info", form)
    text = f"before{INVISIBLE}after"
    if place == "event":
        log.info(text)
    elif place == "value":
        log.info("line", title=text)
    elif place == "list":
        log.info("line", titles=[text, {"title": text}])
    else:
        _log_failure(log, text)
    written = capfd.readouterr().err
    assert not set(INVISIBLE) & set(written)
    assert "before" in written


texts = st.text(st.sampled_from(INVISIBLE) | st.characters(exclude_categories=["Cs"]), max_size=50)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(event=texts, title=texts)
def test_no_title_reaches_the_terminal_unseen(
    capfd: pytest.CaptureFixture[str], event: str, title: str
) -> None:
    Log("info", "console").info(event, title=title)
    written = capfd.readouterr().err
    assert not set(INVISIBLE) & set(written)
    assert not [char for char in written if ord(char) < 32 and char not in "\n\t"]


def test_two_logs_keep_their_own_level_and_form(capfd: pytest.CaptureFixture[str]) -> None:
    loud, quiet = Log("debug", "json"), Log("error", "console")
    loud.debug("from the loud one")
    quiet.info("from the quiet one")
    quiet.error("an error")
    first, second = capfd.readouterr().err.splitlines()
    assert json.loads(first)["event"] == "from the loud one"
    assert second.endswith("error: an error")
