"""The outcome of a research: asked for at the service until it has ended, then kept."""

from __future__ import annotations

import asyncio
import time

from vr_kernel import Call, VrError

from vr_plugin_research.interactions.interaction import MOST_CHARS, Interaction, kept_sources
from vr_plugin_research.interactions.known import keep

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 5.0
"""Pauses between looks at a research that is waited for."""


async def settled(call: Call, interaction: Interaction, *, cancel: bool = False) -> Interaction:
    """Return a research with its outcome, if it has ended; the service is asked only before.

    Args:
        call: pays for it, when it is the first to hear of its end.
        interaction: as it is kept.
        cancel: end it, if it is under way.

    Raises:
        VrError: NOT_FOUND, category RESEARCH_FORGOTTEN, when the service no longer has it.
    """
    if interaction.has_ended:
        return interaction
    gemini = call.services.gemini
    ask = gemini.cancel_research if cancel else gemini.research_status
    status = await ask(interaction.started)
    if not status.has_ended:
        return interaction
    text = status.text if status.answers else ""
    whole_uri = _whole(call, text) if len(text) > MOST_CHARS else ""
    ended = interaction.model_copy(
        update={
            "state": status.state,
            "text": text[:MOST_CHARS],
            "chars": len(text),
            "whole_uri": whole_uri,
            "sources": kept_sources(status.sources),
            "usage": status.usage if status.usage.charged else None,
            "model": status.model,
            "problem": status.problem,
        }
    )
    await keep(call.services, ended)
    return ended


async def waited_for(call: Call, interaction: Interaction, seconds: float) -> Interaction:
    """Return a research with its outcome, or as it is after so many seconds.

    Raises:
        VrError: as `settled`.
    """
    began, pause = time.monotonic(), FIRST_PAUSE_S
    while True:
        found = await settled(call, interaction)
        elapsed = time.monotonic() - began
        if found.has_ended or elapsed >= seconds:
            return found
        call.progress(elapsed, seconds, "Deep Research is under way")
        await asyncio.sleep(min(pause, seconds - elapsed))
        pause = min(pause * 1.5, LONGEST_PAUSE_S)


def _whole(call: Call, text: str) -> str:
    """The address of a file with a long text; empty when it cannot be kept."""
    try:
        return call.artifact(text.encode(), "text/markdown").uri
    except VrError as error:
        call.note(f"The whole report was not kept as a file: {error.told}")
        return ""
