"""Analyses cut to fit into an answer; the whole is kept as a file."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from vr_kernel import Call, VrError, fit
from vr_kernel.views import as_markdown

from vr_plugin_content.results.analysis import ContentAnalysis

MOST_TOKENS = 4_000
_LISTS = ("outline", "entities", "key_points")


async def fitted(call: Call, analysis: ContentAnalysis) -> ContentAnalysis:
    """Return an analysis that fits into an answer, with files of the whole where it was cut."""
    cut = await asyncio.to_thread(fit, analysis, _shorter(analysis), MOST_TOKENS)
    if cut is analysis:
        return analysis
    told = [
        f"{name}: {len(getattr(cut, name))} of {len(getattr(analysis, name))}"
        for name in _LISTS
        if len(getattr(cut, name)) < len(getattr(analysis, name))
    ]
    files = await asyncio.to_thread(_files, call, analysis)
    note = f"Shortened ({'; '.join(told) or 'texts'}); all of it is in result_uri."
    return cut.model_copy(update={**files, "limits": [*cut.limits, note]})


def _shorter(analysis: ContentAnalysis) -> Iterator[ContentAnalysis]:
    shorter = analysis
    for name, step in (("outline", 2), ("entities", 2), ("key_points", 2)):
        items = getattr(shorter, name)
        while len(items) > 1:
            items = items[: len(items) // step]
            shorter = shorter.model_copy(update={name: items})
            yield shorter
    yield shorter.model_copy(update={"summary": shorter.summary[:2_000], "custom": None})


def _files(call: Call, analysis: ContentAnalysis) -> dict[str, str]:
    """The addresses of the whole result as JSON and as Markdown; none when they cannot be kept."""
    from vr_plugin_content.views.analysis import view_of

    try:
        result = call.artifact(analysis.model_dump_json(indent=1).encode(), "application/json")
        report = call.artifact(as_markdown(view_of(analysis)).encode(), "text/markdown")
    except VrError as error:
        call.note(f"The whole result was not kept as a file: {error.message} {error.hint}")
        return {}
    return {"result_uri": result.uri, "report_uri": report.uri}
