"""Kernels and servers whose models are a fake Gemini, for the tests of long work."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import paid_plugin
from plugin_zoo import Animal, Zoo
from pydantic import BaseModel
from vr_kernel import Kernel, load_config
from vr_testing import FakeGemini

FUTURE = "from __future__ import annotations\n"
# The zoo puts a line before the source, where that import may not stand.
PAID = Animal("paid", Path(paid_plugin.__file__).read_text("utf-8").replace(FUTURE, ""))
LEASE_S = 1.0
"""Of processes that are killed."""
ASKED = "generateContent"
PAID_STEP = "key LIKE '%#%'"
"""SQL: a row of `step` is a paid reply; others are marks of the kernel."""


class Found(BaseModel):
    """The result of a test's own tools."""

    text: str
    cached: bool = False


def paying(gemini: FakeGemini, **more: str) -> dict[str, str]:
    """Variables of a process that pays the fake service."""
    return {
        "GEMINI_API_KEY": "a-key",
        "GOOGLE_GEMINI_BASE_URL": gemini.url,
        "GEMINI_RETRY_BASE_DELAY": "0.05",
        "VR_KERNEL__LEASE_S": str(LEASE_S),
        **more,
    }


def paid_zoo(folder: Path) -> Zoo:
    """A zoo of the paid plugin alone."""
    return Zoo(folder).add(PAID)


def call_as(kernel: Kernel, principal: str) -> None:
    """Let calls that name no principal be somebody's who is not the owner."""
    foundation = kernel._foundation
    foundation.identity = replace(foundation.identity, principal=principal)


@asynccontextmanager
async def paid_kernel(
    environ: Mapping[str, str],
    gemini: FakeGemini,
    *,
    plugin: object = paid_plugin,
    principal: str = "",
    **more: str,
) -> AsyncIterator[Kernel]:
    """A kernel with the paid plugin, or another of that name.

    It is not killed, so its leases are long: a busy machine costs it none.
    """
    more = {"VR_KERNEL__LEASE_S": "20", **more}
    config = load_config(
        environ={**environ, **paying(gemini, **more)}, working_folder=Path(environ["HOME"])
    )
    async with Kernel.open(config, {"paid": plugin}, roots=[]) as kernel:
        call_as(kernel, principal or kernel.identity.principal)
        yield kernel


def asked(gemini: FakeGemini) -> Counter[str]:
    """The number of times that each question was asked."""
    return Counter(request.text for request in gemini.requests_of(ASKED))


def rows(folder: str | Path, file: str, query: str, *values: Any) -> list[tuple[Any, ...]]:
    """Rows of a database in that folder; nothing when there is no such file."""
    path = Path(folder, file)
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as connection:
        try:
            return connection.execute(query, values).fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):  # somebody is just making the file
                return []
            raise


def recorded(state: str | Path) -> list[tuple[str, str]]:
    """Key and fields of every record in the journal, in order."""
    return rows(state, "journal.db", "SELECT key, fields FROM record ORDER BY seq")
