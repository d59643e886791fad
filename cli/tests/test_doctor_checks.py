"""The checks of `vr doctor`, one by one, where a whole installation would say too little."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from vr_cli.doctor import environment
from vr_cli.doctor.check_runner import loop_aside, run_checks
from vr_cli.doctor.transport import http_checks
from vr_kernel import Check, Code, Diagnosis, Level, VrError, load_config
from vr_kernel.text import redactor

KEY = "AIza" + "k3y_" * 9


@pytest.fixture
def loop() -> Iterator[object]:
    """An event loop aside."""
    with loop_aside() as loop:
        yield loop


def look(*checks: Check, loop, redact=str):
    """Results of these checks."""
    return run_checks([("group", check) for check in checks], loop, redact)


def test_results_keep_the_order_of_the_checks(loop) -> None:
    others = threading.Event()

    def slow() -> Diagnosis:
        assert others.wait(10)
        return Diagnosis.ok("slow")

    async def awaited() -> Diagnosis:
        others.set()
        return Diagnosis.warning("awaited", "wait")

    checks = [Check("a", slow), Check("b", lambda: Diagnosis.ok("fast")), Check("c", awaited)]
    found = look(*checks, loop=loop)
    assert [(r.name, r.level, r.what) for r in found] == [
        ("a", Level.OK, "slow"),
        ("b", Level.OK, "fast"),
        ("c", Level.WARNING, "awaited"),
    ]
    assert all(result.answered for result in found)


def test_waiting_checks_wait_together(loop) -> None:
    together = threading.Barrier(20)

    def wait() -> Diagnosis:
        together.wait()  # until all twenty do
        return Diagnosis.ok("done")

    found = look(*(Check(str(n), wait) for n in range(20)), loop=loop)
    assert [result.level for result in found] == [Level.OK] * 20


def test_what_hangs_is_reported_and_the_others_answer(loop) -> None:
    release = threading.Event()

    async def block() -> Diagnosis:
        release.wait()
        return Diagnosis.ok("late")

    checks = [
        Check("sleeps", release.wait, 0.1),
        Check("blocks", block, 0.2),
        Check("sound", lambda: Diagnosis.ok("sound")),
    ]
    try:
        sleeps, blocks, sound = look(*checks, loop=loop)
    finally:
        release.set()
    assert (sleeps.level, blocks.level, sound.level) == (Level.FAULT, Level.FAULT, Level.OK)
    assert "no answer in 0.1 s" in sleeps.what
    assert not sleeps.answered
    assert not blocks.answered


@pytest.mark.parametrize(
    ("error", "what", "fix"),
    [
        (VrError("It is full.", Code.UNAVAILABLE, hint="Empty it."), "It is full.", "Empty it."),
        (VrError("It is full."), "It is full.", "report it to group"),
        (ValueError("no number"), "ValueError: no number", "report it to group"),
        (SystemExit(3), "SystemExit", "report it to group"),
        (KeyboardInterrupt(), "KeyboardInterrupt", "report it to group"),
    ],
)
def test_what_a_check_raises_is_its_fault(error, what, fix, loop) -> None:
    def plain() -> Diagnosis:
        raise error

    (found,) = look(Check("x", plain), loop=loop)
    assert found.level is Level.FAULT
    assert what in found.what
    assert fix in found.fix
    assert found.answered


def test_findings_are_made_one_short_line_without_secrets(loop) -> None:
    text = f"first\nsecond \x1b[31m{KEY}\x07 " + "x" * 1000
    check = Check("x", lambda: Diagnosis.fault(text, text))
    (found,) = look(check, loop=loop, redact=redactor([KEY]))
    assert found.what.isprintable()
    assert found.what.startswith("first second [secret]")
    assert len(found.what) < 500
    assert KEY not in found.fix


def test_the_clock_is_compared_with_what_was_written(tmp_path: Path) -> None:
    assert environment.clock(tmp_path).level == "ok"
    file = tmp_path / "journal.db"
    file.touch()
    assert environment.clock(tmp_path).level == "ok"
    os.utime(file, (time.time() + 7200,) * 2)
    found = environment.clock(tmp_path)
    assert found.level == "warning"
    assert "journal.db" in found.what


@pytest.mark.parametrize(
    ("tokens", "level", "what"),
    [
        ("", "ok", "only this machine"),
        ("anna:a-token-0123456789, b-token-0123456789", "ok", "anna, you"),
        ("anna:short", "fault", "shorter than"),
        ("anna:a-token-0123456789, bob:a-token-0123456789", "fault", "two principals"),
    ],
)
def test_tokens_are_looked_at_before_a_server_starts(
    environ: dict[str, str], loop, tokens: str, level: str, what: str
) -> None:
    config = load_config({**environ, "VR_HTTP_TOKENS": tokens} if tokens else environ)
    (found,) = look(*http_checks(config), loop=loop)
    assert (found.level, found.name) == (level, "http")
    assert what in found.what
    assert "0123456789" not in found.what
