"""Weaviate's QueryAgent: a service of Weaviate Cloud that searches a cluster and answers."""

from __future__ import annotations

import asyncio
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from vr_kernel import Code, ErrorRule, ErrorTable, Services, Store, VrError, require_extra

from vr_plugin_knowledge.answering.agent import AgentAnswer
from vr_plugin_knowledge.weaviate_store.address import CLOUD, read_address
from vr_plugin_knowledge.weaviate_store.names import OWN
from vr_plugin_knowledge.weaviate_store.settings import WeaviateSettings
from vr_plugin_knowledge.weaviate_store.store import WeaviateStore

if TYPE_CHECKING:
    from vr_plugin_knowledge.weaviate_store.layout import Place

FAILED = "AGENT_FAILED"
INSTALL = "pip install 'video-research[agents]', or leave backend out."
_AUTH = re.compile(
    r"unauthori[sz]ed|forbidden|not authenticated|invalid (?:token|key)", re.IGNORECASE
)
_QUOTA = re.compile(r"quota|rate.?limit|too many requests|plan limit|exceeded", re.IGNORECASE)
_SAID_CHARS = 300
_ANSWERS = ErrorTable(
    ErrorRule(
        words=_AUTH,
        code=Code.AUTH,
        message="Weaviate's query agent does not accept the key: {said}",
        hint="Set WEAVIATE_API_KEY to a key of this cluster.",
    ),
    ErrorRule(
        words=_QUOTA,
        code=Code.QUOTA,
        message="Weaviate's query agent takes no more questions now: {said}",
        hint="See the plan of your cluster, or leave backend out.",
    ),
    otherwise=ErrorRule(
        code=Code.UNAVAILABLE,
        message="Weaviate's query agent gave no answer: {said}",
        category=FAILED,
        hint="Ask again later, or leave backend out: the question is then answered here.",
    ),
)


class WeaviateQueryAgent:
    """An `AnswerAgent`: questions go to the service, which reads the cluster by itself.

    Args:
        settings: the cluster, its key, the service's address, and the time limit.
        store: whose collections are searched.
    """

    name = "weaviate/query-agent"

    def __init__(self, settings: WeaviateSettings, store: WeaviateStore) -> None:
        self._settings = settings
        self._store = store

    async def ask(self, query: str, kinds: Sequence[str], workspace: str) -> AgentAnswer:
        """The answer from the collections that have records in that workspace.

        Raises:
            VrError: UNAVAILABLE, category AGENT_UNAVAILABLE, for a cluster that the service cannot
                reach, or without its library; category AGENT_FAILED, AUTH or QUOTA for errors of
                the service; as the store when the cluster cannot be reached.
        """
        self._require_reach()
        agent_type, collection_type = await asyncio.to_thread(_library)
        places = [place for kind in kinds if (place := await self._filled(kind, workspace))]
        if not places:
            return AgentAnswer("")
        asked = [
            collection_type(
                name=place.collection.name,
                tenant=workspace if place.collection.tenants else None,
                view_properties=sorted(
                    p for p in place.collection.properties if not p.startswith(OWN)
                ),
            )
            for place in places
        ]
        answer = await self._answer(agent_type, query, asked)
        return AgentAnswer(
            str(answer.final_answer),
            await self._sources(places, answer.sources or ()),
            tuple(map(str, answer.missing_information or ())),
        )

    async def _answer(self, agent_type: Any, query: str, collections: list[Any]) -> Any:
        limit = self._settings.weaviate_agent_s
        client = await self._store.connection.client()
        try:
            async with asyncio.timeout(limit):
                agent = agent_type(
                    client,
                    agents_host=self._settings.weaviate_agents_url.rstrip("/") or None,
                    # Longer than our own limit, whose error is clearer.
                    timeout=int(limit) + 5,
                )
                # So the sources are those that the answer rests on.
                return await agent.ask(query, collections, result_evaluation="llm")
        except TimeoutError:
            failure = _ANSWERS.error(said=f"no answer within {limit:g} s")
            failure.retryable = True
            raise failure from None
        except Exception as error:  # the library raises bare exceptions with the service's message
            raise self._translated(error) from error

    def _translated(self, error: Exception) -> VrError:
        key = self._settings.weaviate_api_key.get_secret_value()
        said = " ".join(str(error).split()) or type(error).__name__
        said = (said.replace(key, "…") if key else said)[:_SAID_CHARS]
        failure = _ANSWERS.error(words=said)
        failure.retryable |= failure.category == FAILED and _is_of_network(error)
        return failure

    async def _filled(self, kind: str, workspace: str) -> Place | None:
        place = self._store.place(kind, workspace)
        counts = await self._store.count(kind, workspace) if place else {}
        return place if sum(counts.values()) else None

    async def _sources(
        self, places: Sequence[Place], sources: Sequence[Any]
    ) -> tuple[tuple[str, str], ...]:
        """The records that the service names by collection and UUID, each once."""
        by_name = {place.collection.name: place for place in places}
        wanted: dict[str, list[str]] = defaultdict(list)
        for each in sources:
            wanted[each.collection].append(str(each.object_id))
        keys: dict[tuple[str, str], tuple[str, str]] = {}
        for name, uuids in wanted.items():
            place = by_name.get(name)
            found = await self._store.keys(place, uuids) if place else {}
            for uuid in uuids:
                keys[name, uuid] = (place.kind if place else name, found.get(uuid, uuid))
        return tuple(dict.fromkeys(keys[s.collection, str(s.object_id)] for s in sources))

    def _require_reach(self) -> None:
        if self._settings.weaviate_agents_url:
            return
        address = read_address(self._settings.weaviate_url, self._settings.weaviate_grpc_port)
        if not address.host.endswith(CLOUD):
            raise VrError(
                f"Weaviate's query agent serves clusters of Weaviate Cloud, not {address.shown}.",
                Code.UNAVAILABLE,
                category="AGENT_UNAVAILABLE",
                hint="Leave backend out: the question is then answered here.",
            )


def build_query_agent(services: Services) -> WeaviateQueryAgent:
    """The agent of a kernel, with the kernel's own store."""
    store = services.providers.get(Store, "weaviate")
    assert isinstance(store, WeaviateStore)
    return WeaviateQueryAgent(services.settings, store)


def _library() -> tuple[Any, Any]:
    message = "The library of Weaviate's query agent is not installed."
    with warnings.catch_warnings():
        # authlib warns at import about its own deprecation, which a user cannot change.
        warnings.simplefilter("ignore")
        query = require_extra("weaviate_agents.query", message, INSTALL, "AGENT_UNAVAILABLE")
    from weaviate_agents.query.classes import QueryAgentCollectionConfig

    return query.AsyncQueryAgent, QueryAgentCollectionConfig


def _is_of_network(error: Exception) -> bool:
    return type(error).__module__.startswith("httpx")


def _without_own(properties: Iterable[str]) -> list[str]:
    """Leave out the properties that only our own search uses."""
    return [name for name in properties if not name.startswith(OWN)]
