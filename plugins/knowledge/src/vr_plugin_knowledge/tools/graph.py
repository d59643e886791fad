"""`knowledge_graph`: what is around a concept, and exports of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field
from vr_kernel import (
    CALLS_OUT,
    IDEMPOTENT,
    READ_ONLY,
    Call,
    Code,
    Query,
    VrError,
    did_you_mean,
    tool,
)

from vr_plugin_knowledge.arguments import OptionalName, OptionalNames, bound
from vr_plugin_knowledge.graph.follower import Networks
from vr_plugin_knowledge.graph.identity import CONCEPTS, EDGES, TYPES, identify
from vr_plugin_knowledge.graph.network import Network
from vr_plugin_knowledge.graph.results import Direction, KnowledgeGraph
from vr_plugin_knowledge.search.retrieval import retrieve

if TYPE_CHECKING:
    from vr_plugin_knowledge.graph.traversal import Region

SEEDS = 5
"""Most concepts from which a question starts."""
SHOWN, EXPORTED, MOST = 20, 500, 2000
NAMED = 10
"""Most concepts of an exported file that the result names, too."""
Format = Literal["json", "mermaid", "graphml", "html"]
OptionalQuestion = Annotated[str | None, bound(2000)]


@tool(effects=READ_ONLY | IDEMPOTENT | CALLS_OUT)
async def knowledge_graph(
    call: Call,
    concept: OptionalName = None,
    query: OptionalQuestion = None,
    depth: Annotated[int, Field(ge=1, le=3)] = 2,
    relationship_types: OptionalNames = None,
    direction: Direction = "both",
    limit: Annotated[int | None, Field(ge=1, le=MOST)] = None,
    format: Format = "json",  # noqa: A002 - the name that clients know
) -> KnowledgeGraph:
    """Show concepts around one, or a question, or all; or export them to a file."""
    from vr_plugin_knowledge.graph.presenting import present
    from vr_plugin_knowledge.graph.traversal import graph_library, rank, traverse

    graph_library()
    notes: list[str] = []
    asked = query if query and query.strip() and not concept else ""
    found = await _search(call, asked, notes) if asked else []
    async with call.services.providers.get(Networks).current(call.workspace) as network:
        seeds = _named(network, concept) if concept else _known(network, found)
        if asked and not seeds:
            notes.append("No concept answers to the query.")
            return KnowledgeGraph(nodes=[], edges=[], total_nodes=0, total_edges=0, notes=notes)
        kinds = _types(network, relationship_types)
        region = await asyncio.to_thread(
            traverse, network, seeds, depth=depth, kinds=kinds, direction=direction
        )
    await asyncio.to_thread(rank, region, direction)
    if not region.concepts:
        notes.append("The graph is empty: knowledge_extract fills it.")
    derived = {kind.name for kind in call.services.kinds.values() if kind.derived}
    if format == "json" or not region.concepts:
        result = await asyncio.to_thread(present, region, limit or SHOWN, derived)
        if len(result.nodes) < min(len(region.concepts), limit or SHOWN):
            notes.append("Shortened to fit; the other formats export more, to a file.")
    else:
        subject = concept or asked
        result = await _export(call, region, format, limit or EXPORTED, subject)
        if result.total_nodes > (limit or EXPORTED):
            notes.append(f"The file has the {limit or EXPORTED} closest concepts.")
    result.notes = notes
    return result


async def _search(call: Call, query: str, notes: list[str]) -> list[str]:
    """The concepts that a question finds, best first; both ends of a relationship."""
    asked = Query(query, kinds=(CONCEPTS, EDGES), limit=SEEDS, workspace=call.workspace)
    hits = (await retrieve(call, asked, notes)).hits
    fields = ("concept_name", "from_concept", "to_concept")
    return [identify(hit.record.fields.get(name) or "") for hit in hits for name in fields]


def _known(network: Network, found: Sequence[str]) -> dict[str, float]:
    """The first concepts of what a search found; the better ones weigh more."""
    known = [name for name in dict.fromkeys(found) if network.concept(name)]
    return {name: 1 / (place + 1) for place, name in enumerate(known[:SEEDS])}


def _types(network: Network, wanted: Sequence[str] | None) -> frozenset[str]:
    """The types of relationships to follow; all for none.

    Raises:
        VrError: INVALID_INPUT for an unknown type.
    """
    known = {*TYPES, *(relation.kind for relation in network.relations.values())}
    for kind in wanted or ():
        if kind not in known:
            raise VrError(
                f"No relationship is of the type {kind[:100]!r}.",
                Code.INVALID_INPUT,
                hint=f"{did_you_mean(kind, known)}Types: {', '.join(sorted(known))}.",
            )
    return frozenset(wanted or ())


def _named(network: Network, name: str) -> dict[str, float]:
    """The concept of that name or alias.

    Raises:
        VrError: NOT_FOUND, with the nearest name.
    """
    if found := network.find(name):
        return {each.id: 1.0 for each in found}
    near = did_you_mean(name, list(network.names()))
    raise VrError(
        f"No concept {name[:100]!r}.",
        Code.NOT_FOUND,
        hint=f"{near}query finds concepts by meaning; knowledge_extract adds some.",
    )


async def _export(
    call: Call, region: Region, form: Format, limit: int, subject: str
) -> KnowledgeGraph:
    """The closest concepts as a file, and where it is.

    Raises:
        VrError: UNAVAILABLE for a page, when nothing that makes pages is installed.
    """
    from vr_plugin_knowledge.graph.presenting import present

    shown = await asyncio.to_thread(region.cut, limit)
    content, mime = await _written(call, shown, form, subject)
    kept = await asyncio.to_thread(call.artifact, content, mime)
    named = await asyncio.to_thread(present, shown, NAMED)
    return KnowledgeGraph(
        nodes=[node.model_copy(update={"sources": []}) for node in named.nodes],
        total_nodes=len(region.concepts),
        total_edges=len(region.relations),
        artifact=kept.uri,
        path=str(kept.path),
    )


async def _written(call: Call, region: Region, form: Format, subject: str) -> tuple[bytes, str]:
    """The content of the file, and its media type."""
    if form == "mermaid":
        from vr_plugin_knowledge.graph.mermaid import as_mermaid

        return (await asyncio.to_thread(as_mermaid, region)).encode(), "text/vnd.mermaid"
    if form == "graphml":
        from vr_plugin_knowledge.graph.graphml import as_graphml

        return await asyncio.to_thread(as_graphml, region), "application/graphml+xml"
    from vr_kernel.views import ViewRenderer

    from vr_plugin_knowledge.views.regions import view_of_region

    renderer = call.services.providers.get(ViewRenderer)
    view = await asyncio.to_thread(view_of_region, region, subject)
    return (await renderer.page(view)).encode("utf-8", "replace"), "text/html"
