"""Extractions cut to fit into an answer; the whole is kept as a file."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from vr_kernel import Call, VrError, fit

from vr_plugin_content.extraction.checking import FOUND
from vr_plugin_content.results.extraction import ContentExtraction, Evidence

MOST_TOKENS = 4_000
MOST_DATA_TOKENS = 8_000
"""Data of up to so many tokens are never left out of an answer."""


async def fitted(call: Call, extraction: ContentExtraction) -> ContentExtraction:
    """Return an extraction that fits into an answer, with a file of the whole where it was cut.

    Evidence is left out first, that of found quotes before that of others; data are left out as a
    whole, so that what is there always fits the schema.
    """
    cut = await asyncio.to_thread(fit, extraction, _less_evidence(extraction), MOST_TOKENS)
    if cut is extraction:
        return extraction
    without = cut.model_copy(update={"data": None})
    cut = await asyncio.to_thread(fit, cut, [without], MOST_DATA_TOKENS)
    told = [] if len(cut.evidence) == len(extraction.evidence) else ["evidence"]
    told += ["data"] if cut is without else []
    note = f"Shortened ({' and '.join(told)}); all of it is in result_uri."
    whole = extraction.model_dump_json(indent=1).encode()
    try:
        kept = await asyncio.to_thread(call.artifact, whole, "application/json")
    except VrError as error:
        note = f"Shortened, and the whole could not be kept: {error.message} {error.hint}"
        return cut.model_copy(update={"limits": [*cut.limits, note]})
    return cut.model_copy(update={"result_uri": kept.uri, "limits": [*cut.limits, note]})


def _less_evidence(extraction: ContentExtraction) -> Iterator[ContentExtraction]:
    bare = [each.model_copy(update={"quote": "", "link": ""}) for each in extraction.evidence]
    yield extraction.model_copy(update={"evidence": bare})
    kept: list[Evidence] = sorted(bare, key=lambda each: each.status in FOUND)
    while kept:
        kept = kept[: len(kept) // 2]
        yield extraction.model_copy(update={"evidence": kept})
