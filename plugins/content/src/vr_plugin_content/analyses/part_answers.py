"""Answers about the parts of a long document: each kept as soon as it was paid for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import BaseModel
from vr_kernel import Call, Structured, cache_key

from vr_plugin_content.analyses.prompt import ReadReport

Ask = Callable[[], Awaitable[Structured[Any]]]


class PartAnswer(BaseModel):
    """The answer of a model about a part: a report, or one in the caller's own form."""

    report: ReadReport | None = None
    custom: Any = None
    model: str

    @property
    def value(self) -> Any:
        """The answer itself."""
        return self.custom if self.report is None else self.report


class PartAnswers:
    """The answers about the parts of one document.

    Args:
        call: that pays.
        content_id: of the document.
        key: names the analysis.
    """

    def __init__(self, call: Call, content_id: str, key: str) -> None:
        self._call = call
        self._content_id = content_id
        self._key = key

    async def answer(self, number: int, count: int, ask: Ask) -> PartAnswer:
        """Return the answer about a part; it is kept even when the whole call fails later.

        Raises:
            VrError: what `ask` raises.
        """
        key = cache_key(part=[number, count], of=self._key)
        place = self._call.services.cache.model(key, PartAnswer)
        if (kept := await place.get()) is not None:
            return kept
        found = await ask()
        report = found.value if isinstance(found.value, ReadReport) else None
        custom = None if report is not None else found.value
        answer = PartAnswer(report=report, custom=custom, model=found.reply.model)
        async with self._call.part(f"part {number}") as part:
            part.keep(key, answer, content_id=self._content_id, model=answer.model)
        return answer
