"""Parts of session tests: a fake model that repeats what it was told, a locked file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vr_testing import FakeGemini
from vr_testing.gemini.request import RecordedRequest, look_up

HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=10)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
connection.rollback()
"""


def key_for(gemini: FakeGemini) -> dict[str, str]:
    """Variables of a kernel that asks the fake."""
    return {
        "GEMINI_API_KEY": "a-key",
        "GOOGLE_GEMINI_BASE_URL": gemini.url,
        "GEMINI_RETRY_BASE_DELAY": "0.01",
    }


def asked(gemini: FakeGemini) -> list[RecordedRequest]:
    """The requests that a model answered."""
    return gemini.requests_of("generateContent")


def said(request: RecordedRequest) -> list[tuple[str, str]]:
    """Return the turns of a request with their roles; files are left out."""
    turns: list[dict[str, Any]] = request.body["contents"]
    return [
        (turn["role"], "\n".join(part["text"] for part in turn["parts"] if "text" in part))
        for turn in turns
    ]


def address_in(request: RecordedRequest) -> str:
    """The address of the one video that a request names."""
    (part,) = request.media
    return str(look_up(look_up(part, "fileData"), "fileUri"))


def echo(request: RecordedRequest) -> str:
    """An answer that names the question."""
    return f"You asked: {said(request)[-1][1].splitlines()[-1]}"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another process holds a write transaction on the file for the time of the `with`."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == "locked"
        try:
            yield
        finally:
            holder.stdin.write("\n")
            holder.stdin.flush()
            holder.wait(10)
