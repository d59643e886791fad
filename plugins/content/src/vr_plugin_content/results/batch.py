"""Results of a batch."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field
from vr_kernel import Usage, VrError

from vr_plugin_content.results.analysis import ContentAnalysis, Engine, KeyPoint

Mode = Literal["compare", "individual"]
Status = Literal["ok", "failed", "planned"]


class ItemError(BaseModel):
    """The reason why one file has no analysis."""

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


class BatchContentItem(BaseModel):
    """One file of a batch. `planned`: only the cost was asked for."""

    source: str
    name: str = Field("", description="as the comparison calls it")
    status: Status
    cached: bool = False
    title: str = Field("", exclude_if=lambda value: not value)
    summary: str = Field("", exclude_if=lambda value: not value)
    key_points: list[KeyPoint] = Field([], exclude_if=lambda value: not value)
    entities: list[str] = Field([], exclude_if=lambda value: not value)
    custom: dict[str, Any] | None = Field(None, exclude_if=lambda value: value is None)
    dropped: int = Field(
        0, description="points left out by strict", exclude_if=lambda value: not value
    )
    tokens_in: int = Field(0, exclude_if=lambda value: not value)
    limits: list[str] = Field([], exclude_if=lambda value: not value)
    error: ItemError | None = Field(None, exclude_if=lambda value: value is None)

    @classmethod
    def of(cls, name: str, analysis: ContentAnalysis) -> BatchContentItem:
        """Return the item of an analysis."""
        return cls(
            source=analysis.source,
            name=name,
            status="ok",
            cached=analysis.cached,
            title=analysis.title,
            summary=analysis.summary,
            key_points=analysis.key_points,
            entities=analysis.entities,
            custom=analysis.custom,
            dropped=analysis.dropped,
            limits=analysis.limits,
        )


class SharedPoint(BaseModel):
    """A point about several files, by their names."""

    text: str
    files: list[str]


class Comparison(BaseModel):
    """Several files set side by side."""

    summary: str = ""
    commonalities: list[SharedPoint] = []
    differences: list[SharedPoint] = []
    custom: dict[str, Any] | None = Field(None, exclude_if=lambda value: value is None)


class BatchEstimate(BaseModel):
    """The work that is still to be paid: files, requests, and tokens of their texts."""

    files: int
    requests: int
    tokens_in: int


class BatchContentResult(BaseModel):
    """The analyses of a batch, in order; with `compare` also the comparison."""

    source: str
    mode: Mode
    engine: Engine = "local"
    model: str = ""
    total: int
    ok: int
    failed: int
    cached: int
    comparison: Comparison | None = Field(None, exclude_if=lambda value: value is None)
    items: list[BatchContentItem]
    estimate: BatchEstimate | None = Field(None, exclude_if=lambda value: value is None)
    usage: Usage | None = None
    result_uri: str = Field("", description="all of it, uncut, as JSON")
    limits: list[str] = []

    @classmethod
    def of(
        cls, source: str, mode: Mode, items: list[BatchContentItem], limits: list[str]
    ) -> BatchContentResult:
        """Make a result and count its items."""
        return cls(
            source=source,
            mode=mode,
            total=len(items),
            ok=sum(item.status == "ok" for item in items),
            failed=sum(item.status == "failed" for item in items),
            cached=sum(item.cached for item in items),
            items=items,
            limits=limits,
        )
