"""Answers of models that stay in the cache where the analysis made of them does not."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pydantic import BaseModel
from vr_kernel import Reply, Structured, cache_key

from vr_plugin_video.analyses.meetings import form_of
from vr_plugin_video.analyses.request import AnalysisRequest
from vr_plugin_video.task import VideoTask

T = TypeVar("T")


class KeptAnswer(BaseModel, Generic[T]):
    """The report of a model, as it is cached."""

    value: T
    reply: Reply


class KeptAnswers:
    """The answers that an analysis was paid for, so that the same call need not pay again.

    Args:
        task: the work.
        request: what is wanted.
        key: names the analysis.
    """

    def __init__(self, task: VideoTask, request: AnalysisRequest, key: str) -> None:
        self._task = task
        self._key = key
        form: Any = Any if request.output_schema else form_of(request.instruction)
        self._answer: type[KeptAnswer[Any]] = KeptAnswer.__class_getitem__(form)  # type: ignore[assignment]

    async def find(self, **part: Any) -> Structured[Any] | None:
        """The answer about a part of the analysis; None when there is none."""
        if not self._task.use_cache:
            return None
        place = self._task.services.cache.model(self._key_of(part), self._answer)
        kept = await place.get()
        return None if kept is None else Structured(kept.value, kept.reply)

    def keep(self, found: Structured[Any], **part: Any) -> None:
        """Keep the answer about a part once the call ends well."""
        if self._task.use_cache:
            self._task.work.call.keep(
                self._key_of(part),
                self._answer(value=found.value, reply=found.reply),
                content_id=self._task.source.video_id,
                model=found.reply.model,
            )

    def _key_of(self, part: dict[str, Any]) -> str:
        return cache_key(part_of=self._key, **part)
