"""Searches of the tools: with one named provider, with all of them, or as configured."""

from __future__ import annotations

from collections.abc import Sequence

from vr_kernel import Call, Usage, WebQuery, WebResults

from vr_plugin_search.addresses.identifiers import PaperId, read_identifier
from vr_plugin_search.joining.asking import paper_unknown
from vr_plugin_search.joining.order import ALL, PAPERS, WEB, one_of, order_of
from vr_plugin_search.joining.paper_search import JoinedPapers, JoinedPaperSearch
from vr_plugin_search.joining.web_search import PROVIDER, JoinedSearch
from vr_plugin_search.papers.paper_query import PaperQuery
from vr_plugin_search.recording import record_papers, record_search
from vr_plugin_search.results.papers import PaperResults
from vr_plugin_search.results.web import WebSearch, WebSource
from vr_plugin_search.settings import SearchSettings


async def search_web(call: Call, query: WebQuery, provider: str | None) -> WebSearch:
    """Search the web and record what was found.

    Raises:
        VrError: INVALID_INPUT for an unknown provider; UNAVAILABLE when no service answers.
    """
    settings: SearchSettings = call.settings
    names, wanted, notes = _choice(call, WEB, provider, settings.order, settings.asked_at_once)
    found = await JoinedSearch(call.services).ask(call, query, names, wanted)
    results = found.results
    shown = WebSearch(
        query=query.query,
        response=results.response,
        sources=_sources(results),
        providers=[*found.providers],
        notes=[*notes, *results.notes],
        usage=_usage(call, results.usage),
    )
    record_search(call, shown)
    return shown


async def search_papers(call: Call, query: PaperQuery, provider: str | None) -> PaperResults:
    """Search papers, or look one up, and record what was found.

    Raises:
        VrError: INVALID_INPUT for an unknown provider; NOT_FOUND for an unknown identifier;
            UNAVAILABLE when no service answers.
    """
    settings: SearchSettings = call.settings
    names, wanted, notes = _choice(
        call, PAPERS, provider, settings.paper_order, settings.papers_asked_at_once
    )
    search = JoinedPaperSearch(call.services)
    paper = read_identifier(query.web.query)
    if paper is not None:
        joined = await _looked_up(search, call, paper, names)
    else:
        joined = await search.find(call, query, names, wanted)
    papers = [*joined.found.papers]
    record_papers(call, papers)
    return PaperResults(
        query=query.web.query,
        papers=papers,
        providers=[*joined.providers],
        notes=[*notes, *joined.found.notes],
    )


async def _looked_up(
    search: JoinedPaperSearch, call: Call, paper: PaperId, names: Sequence[str]
) -> JoinedPapers:
    joined = await search.look_up(call, paper, names)
    if not joined.found.papers:
        raise paper_unknown(f"{', '.join(joined.providers)} do not have {paper.value}.")
    return joined


def _choice(
    call: Call, subject: str, provider: str | None, configured: Sequence[str], wanted: int
) -> tuple[Sequence[str], int, Sequence[str]]:
    """The services to ask, the number of answers, and remarks."""
    if provider and provider.strip().lower() != ALL:
        return [one_of(call.services, subject, provider.strip())], 1, []
    order = order_of(call.services, subject, configured)
    return order.names, len(order.names) if provider else wanted, order.notes


def _sources(results: WebResults) -> list[WebSource]:
    return [
        WebSource(
            title=each.title,
            url=each.url,
            snippet=each.snippet,
            published=each.published.isoformat() if each.published else "",
            provider=str(each.details.get(PROVIDER, "")),
        )
        for each in results.results
    ]


def _usage(call: Call, more: Usage | None) -> Usage | None:
    whole = call.usage + more if more is not None else call.usage
    return whole if whole.charged else None
