"""Starts researches: each once, also when the process dies at that moment."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import BaseModel
from vr_kernel import Call, Code, VrError, cache_key, visible

from vr_plugin_research.instructions.web import research_prompt
from vr_plugin_research.interactions.interaction import Interaction, public_id
from vr_plugin_research.interactions.known import find, keep, under_way
from vr_plugin_research.interactions.settling import settled

MOST_CHARS = 20_000
"""Longest topic and question, in characters."""


class Begun(BaseModel):
    """A research that was begun, by its id; `known` says that it was before this call."""

    interaction_id: str
    known: bool = False


async def begin_research(call: Call, topic: str, output_format: str) -> Interaction:
    """Start a research of a topic, or return an equal one that is under way.

    The id is committed before anything else is done with it: whoever repeats the call, after a
    crash or because the answer was lost, gets the research that was begun.

    Raises:
        VrError: TOO_LARGE for a long topic; what the service says.
    """
    _require_short(topic, "topic")
    _require_short(output_format, "output_format")
    prompt = research_prompt(topic, output_format)
    key = cache_key(research_web=prompt, principal=call.principal)

    async def begin(shared: Call) -> Begun:
        known = await under_way(shared.services, key)
        interaction = known or await _begun(shared, topic, prompt, key=key)
        shared.skip_cache()  # once it has ended, the next one is a research of its own
        return Begun(interaction_id=interaction.id, known=known is not None)

    begun = await call.once(key, Begun, begin)
    if begun.known:
        call.note("An equal research is under way; nothing new was started.")
    return await find(call.services, begun.interaction_id)


async def ask_about(call: Call, former: Interaction, question: str) -> Interaction:
    """Ask about a finished research, and wait for the answer; an equal question is asked once.

    Raises:
        VrError: TOO_LARGE for a long question; UNAVAILABLE, category RESEARCH_FAILED, when there
            is no answer, with its cost; what the service says.
    """
    _require_short(question, "question")

    async def ask(shared: Call) -> Begun:
        interaction = await _begun(shared, question, question, former)
        await shared.services.gemini.research_result(interaction.started, report=shared.progress)
        await settled(shared, interaction)
        return Begun(interaction_id=interaction.id)

    key = cache_key(about=former.started, question=question, principal=call.principal)
    begun = await call.once(key, Begun, ask, content_id=former.id)
    return await find(call.services, begun.interaction_id)


async def _begun(
    call: Call, topic: str, prompt: str, former: Interaction | None = None, *, key: str = ""
) -> Interaction:
    """Start a research, and keep it for this principal."""
    previous, follows = (former.started, former.id) if former else ("", "")

    async def start() -> str:
        return await call.services.gemini.start_research(prompt, previous=previous)

    started = str(await call.step("start", start))
    interaction = Interaction(
        id=public_id(started),
        started=started,
        topic=visible(topic),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        follows=follows,
    )
    await keep(call.services, interaction, key=key)
    return interaction


def _require_short(text: str, name: str) -> None:
    if len(text) > MOST_CHARS:
        raise VrError(
            f"The {name} has {len(text):,} characters.",
            Code.TOO_LARGE,
            hint=f"At most {MOST_CHARS:,} are taken.",
        )
