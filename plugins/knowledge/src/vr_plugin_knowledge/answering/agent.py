"""Services that search and answer by themselves, such as Weaviate's QueryAgent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from vr_kernel import Call, Code, RecordKind, VrError

from vr_plugin_knowledge.answering.results import AnswerSource, KnowledgeAnswer
from vr_plugin_knowledge.excerpts import locate, value_of
from vr_plugin_knowledge.freshness import catch_up

NOT_CHECKED = "The agent's answer was not checked against its sources."


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """An agent's answer, and the records that it names as its sources: collection and key.

    `missing` lists what it says it did not find.
    """

    text: str
    sources: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()


class AnswerAgent(Protocol):
    """A store's own service for answers, provided under the name of that store."""

    name: str

    async def ask(self, query: str, kinds: Sequence[str], workspace: str) -> AgentAnswer:
        """The answer from these collections.

        Raises:
            VrError: UNAVAILABLE when the service is not installed or cannot be reached; AUTH or
                QUOTA when it does not serve this key, or not now.
        """


async def ask_agent(
    call: Call, query: str, kinds: Sequence[RecordKind], notes: list[str]
) -> KnowledgeAnswer:
    """The answer of the agent that belongs to the configured store.

    Raises:
        VrError: UNAVAILABLE, category AGENT_UNAVAILABLE, when that store has none.
    """
    agent, pending = _agent(call), await catch_up(call, notes)
    names = [kind.name for kind in kinds]

    async def ask() -> dict[str, Any]:
        return asdict(await agent.ask(query, names, call.workspace))

    said = AgentAnswer(**await call.step("agent", ask))
    notes.append(NOT_CHECKED)
    notes += [f"The agent did not find: {each}" for each in said.missing]
    sources = [
        await _source(call, number, kind, key)
        for number, (kind, key) in enumerate(said.sources, start=1)
    ]
    return KnowledgeAnswer(
        query=query,
        answered=bool(said.text.strip()),
        answer=said.text,
        sources=sources,
        backend="weaviate_agent",
        model=agent.name,
        pending=pending or 0,
        notes=notes,
    )


def _agent(call: Call) -> AnswerAgent:
    providers, store = call.services.providers, call.services.store.name
    if store not in providers.names(AnswerAgent):
        raise VrError(
            f"There is no query agent for the store {store!r}.",
            Code.UNAVAILABLE,
            category="AGENT_UNAVAILABLE",
            hint="Leave backend out. The agent belongs to Weaviate Cloud: it needs"
            " store.backend=weaviate and pip install 'video-research[agents]'.",
        )
    return providers.get(AnswerAgent, store)


async def _source(call: Call, number: int, name: str, key: str) -> AnswerSource:
    kind = call.services.kinds.get(name)
    record = await call.services.store.get(name, key, call.workspace) if kind else None
    if kind is None or record is None:
        return AnswerSource(number=number, collection=name, object_id=key)
    return AnswerSource(
        number=number,
        collection=name,
        object_id=key,
        locator=locate(kind, record.fields),
        link=value_of(record.fields, kind.link),
        source=value_of(record.fields, kind.source),
    )
