"""Verifications cut to fit into an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from vr_kernel import fit

from vr_plugin_research.results.verification import Verification

MOST_TOKENS = 4_000


async def fitted_verification(found: Verification) -> Verification:
    """Return a verification that fits into an answer; a shortened one says so."""
    cut = await asyncio.to_thread(fit, found, _shorter(found), MOST_TOKENS)
    if cut is found:
        return found
    shown = f"{len(cut.changed_claims)} of {len(found.changed_claims)}"
    limit = f"Shortened: {shown} changed claims are listed."
    return cut.model_copy(update={"limits": [*cut.limits[:10], limit]})


def _shorter(found: Verification) -> Iterator[Verification]:
    for most in (40, 20, 10, 5):
        yield found.model_copy(
            update={
                "changed_claims": found.changed_claims[:most],
                "changed_citations": found.changed_citations[:most],
                "limits": found.limits[:most],
            }
        )
