"""Results as JSON, in which form a step keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from vr_kernel import Usage, WebResult, WebResults


def packed(found: WebResults) -> dict[str, Any]:
    """Return results as a JSON value."""
    return {
        "results": [_packed(each) for each in found.results],
        "response": found.response,
        "usage": found.usage.model_dump(mode="json") if found.usage else None,
        "notes": [*found.notes],
    }


def unpacked(kept: Mapping[str, Any]) -> WebResults:
    """Return the results that a JSON value was made of."""
    usage = kept["usage"]
    return WebResults(
        tuple(_unpacked(each) for each in kept["results"]),
        kept["response"],
        Usage(**usage) if usage else None,
        tuple(kept["notes"]),
    )


def _packed(found: WebResult) -> dict[str, Any]:
    return {
        "title": found.title,
        "url": found.url,
        "snippet": found.snippet,
        "published": found.published.isoformat() if found.published else "",
        "details": dict(found.details),
    }


def _unpacked(kept: Mapping[str, Any]) -> WebResult:
    published = date.fromisoformat(kept["published"]) if kept["published"] else None
    return WebResult(kept["title"], kept["url"], kept["snippet"], published, kept["details"])
