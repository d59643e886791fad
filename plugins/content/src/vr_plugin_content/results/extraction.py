"""Results of an extraction."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field
from vr_kernel import Usage
from vr_kernel.quoting import Verdict


class Evidence(BaseModel):
    """The words of the source that carry a value, as for a `KeyPoint`.

    `path` is a JSON pointer into `data`. A value without any words is `unchecked`.
    """

    path: str
    quote: str = Field("", exclude_if=lambda value: not value)
    place: str = Field("", exclude_if=lambda value: not value)
    page: int | None = Field(None, exclude_if=lambda value: value is None)
    link: str = Field("", exclude_if=lambda value: not value)
    status: Verdict


class ContentExtraction(BaseModel):
    """Data of a document in the form of the caller's schema."""

    source: str
    title: str
    model: str = ""
    cached: bool = False
    usage: Usage | None = None
    data: Any = Field(None, description="fits the schema")
    evidence: list[Evidence] = Field([], exclude_if=lambda value: not value)
    dropped: int = Field(
        0, description="values left out by strict", exclude_if=lambda value: not value
    )
    result_uri: str = Field("", description="all of it, uncut, as JSON")
    limits: list[str] = []
