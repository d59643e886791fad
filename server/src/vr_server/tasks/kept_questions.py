"""Open questions of a task as rows, so that another process can show and answer them."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any

from mcp_types import ElicitResult
from vr_kernel import Answer, VrError
from vr_kernel.state import ROW_CHANGED, Row, Rows

POLL_S = 1.0
"""Seconds between two looks for an answer that another process accepted."""
VALID_S = 15.0
"""Seconds for which a question counts as open when its process falls silent."""


class KeptQuestions:
    """The questions of one task that any process may have asked.

    Args:
        rows: of all tasks.
        task_id: the task; the caller checks whose it is.
    """

    def __init__(self, rows: Rows, task_id: str) -> None:
        self._rows = rows
        self._prefix = f"{task_id}/"

    async def requests(self) -> dict[str, dict[str, Any]]:
        """Return the open questions, as the protocol writes them; none if they cannot be read."""
        with suppress(VrError):
            found = await self._rows.list(self._prefix)
            open_ = [row for row in found if row.value["answer"] is None]
            return {row.key.removeprefix(self._prefix): row.value["request"] for row in open_}
        return {}

    async def answer(self, key: str, said: ElicitResult) -> None:
        """Accept an answer for the process that asked; ignored if that question is not open.

        Raises:
            VrError: UNAVAILABLE when it cannot be kept.
        """
        given = {"action": said.action, "content": dict(said.content or {})}
        while True:
            row = await self._rows.get(self._prefix + key)
            if row is None or row.value["answer"] is not None:
                return
            if await self._put(row, {**row.value, "answer": given}):
                return

    async def follow(
        self, key: str, request: dict[str, Any], given: asyncio.Future[Answer]
    ) -> None:
        """Keep a question open until it is answered here or, by its row, elsewhere."""
        name = self._prefix + key
        asked = {"request": request, "answer": None}
        with suppress(VrError):  # without rows it is answered here alone
            row = await self._rows.put(name, asked, expires_at=time.time() + VALID_S)
            while not given.done():
                await asyncio.wait({given}, timeout=POLL_S)
                if not given.done():
                    row = await self._rows.get(name) or row
                    _settle(given, row.value["answer"])
                if not given.done() and (row.expires_at or 0) < time.time() + VALID_S / 2:
                    await self._put(row, asked)
        with suppress(VrError):
            await self._rows.delete(name)

    async def _put(self, row: Row, value: dict[str, Any]) -> bool:
        """Write a row that is still as it was read; False when it has changed."""
        try:
            end = time.time() + VALID_S
            await self._rows.put(row.key, value, expected=row.version, expires_at=end)
        except VrError as error:
            if error.category != ROW_CHANGED:
                raise
            return False
        return True


def _settle(given: asyncio.Future[Answer], said: dict[str, Any] | None) -> None:
    if said is not None and not given.done():
        given.set_result(Answer(said["action"], said["content"]))
