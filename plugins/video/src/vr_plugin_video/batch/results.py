"""Results of a batch."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field
from vr_kernel import Usage, VrError

from vr_plugin_video.models import Seconds, VideoAnalysis

Status = Literal["ok", "failed", "skipped", "planned"]


class ItemError(BaseModel):
    """The reason why one video has no analysis."""

    code: str
    category: str
    message: str
    hint: str

    @classmethod
    def of(cls, error: VrError) -> ItemError:
        """The parts of an error that a caller reads."""
        return cls(
            code=error.code.value, category=error.category, message=error.message, hint=error.hint
        )


class BatchVideoItem(BaseModel):
    """One video of a batch; its whole analysis is in `result_uri`.

    `skipped`: nobody can watch it. `planned`: only the cost was asked for.
    """

    source: str
    video_id: str = ""
    status: Status
    cached: bool = False
    title: str = ""
    summary: str = ""
    key_points: list[str] = Field([], exclude_if=lambda value: not value)
    custom: dict[str, Any] | None = Field(None, exclude_if=lambda value: value is None)
    result_uri: str = ""
    limits: list[str] = Field([], exclude_if=lambda value: not value)
    error: ItemError | None = Field(None, exclude_if=lambda value: value is None)

    @classmethod
    def of(cls, analysis: VideoAnalysis) -> BatchVideoItem:
        """Return the item of an analysis."""
        return cls(
            source=analysis.source,
            video_id=analysis.video_id,
            status="ok",
            cached=analysis.cached,
            title=analysis.title,
            summary=analysis.summary,
            key_points=analysis.key_points,
            custom=analysis.custom,
            result_uri=analysis.result_uri,
            limits=analysis.limits,
        )


class BatchEstimate(BaseModel):
    """The work that is still to be paid, told before anything is paid; tokens of the videos only.

    `unknown` counts videos whose length is not known, which are not in the sums.
    """

    files: int
    seconds: Seconds
    tokens_in: int
    unknown: int = 0


class BatchVideoResult(BaseModel):
    """The analyses of a batch, in the order of its folder or playlist."""

    source: str
    total: int
    ok: int
    failed: int
    skipped: int
    cached: int
    estimate: BatchEstimate
    items: list[BatchVideoItem]
    usage: Usage | None = None
    result_uri: str = Field("", description="all items, uncut, as JSON")
    limits: list[str] = []

    @classmethod
    def of(
        cls,
        source: str,
        items: list[BatchVideoItem],
        estimate: BatchEstimate,
        limits: list[str],
    ) -> BatchVideoResult:
        """Make a result and count its items."""

        def count(status: Status) -> int:
            return sum(item.status == status for item in items)

        return cls(
            source=source,
            total=len(items),
            ok=count("ok"),
            failed=count("failed"),
            skipped=count("skipped"),
            cached=sum(item.cached for item in items),
            estimate=estimate,
            items=items,
            limits=limits,
        )
