"""The joined search of the web, itself a provider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vr_kernel import Call, SearchProvider, Services, Usage, WebQuery, WebResult, WebResults

from vr_plugin_search.addresses.canonical import canonical
from vr_plugin_search.addresses.identifiers import doi_of
from vr_plugin_search.joining.asking import Round, ask_in_order
from vr_plugin_search.joining.fusion import fuse
from vr_plugin_search.joining.order import WEB, order_of
from vr_plugin_search.settings import SearchSettings

PROVIDER = "provider"
"""The detail with the names of the services that found a result."""


@dataclass(frozen=True, slots=True)
class JoinedResults:
    """Joined results, and the services that answered."""

    results: WebResults
    providers: tuple[str, ...]


class JoinedSearch:
    """A `SearchProvider` that asks others, in the configured order, and joins their results."""

    name = WEB
    finds = frozenset({WEB})

    def __init__(self, services: Services) -> None:
        self._services = services
        self._settings: SearchSettings = services.settings

    async def search(self, call: Call, query: WebQuery) -> WebResults:
        """Return what the first services found that answer; see `SearchProvider.search`."""
        order = order_of(self._services, WEB, self._settings.order)
        found = await self.ask(call, query, order.names, self._settings.asked_at_once)
        return replace(found.results, notes=(*order.notes, *found.results.notes))

    async def ask(
        self, call: Call, query: WebQuery, names: Sequence[str], wanted: int
    ) -> JoinedResults:
        """Ask services until so many have answered, and join their results.

        Raises:
            VrError: as `ask_in_order`.
        """

        async def ask(name: str) -> WebResults:
            provider = self._services.providers.get(SearchProvider, name)
            return await provider.search(call, query)

        found = await ask_in_order(names, wanted, ask, self._services.log)
        # The services end in any order; their results are joined in that of the names.
        return joined(query, found, [name for name in names if name in found.answers])


def joined(query: WebQuery, found: Round[WebResults], order: Sequence[str]) -> JoinedResults:
    """Join the results of services."""
    lists = [_labelled(name, found.answers[name]) for name in order]
    results = [_merged(forms) for forms in fuse(lists, identities)]
    said = [(name, found.answers[name].response) for name in order if found.answers[name].response]
    response = said[0][1] if len(said) == 1 else "\n\n".join(f"{name}: {it}" for name, it in said)
    notes = [note for name in order for note in _notes(name, found.answers[name], order)]
    usage = [it.usage for it in found.answers.values() if it.usage is not None]
    whole = WebResults(
        tuple(results[: query.limit]),
        response,
        sum(usage, Usage()) if usage else None,
        (*found.notes, *notes),
    )
    return JoinedResults(whole, tuple(order))


def identities(result: WebResult) -> list[str]:
    """The names by which a result is known as the same as another one."""
    names = [canonical(result.url)]
    doi, arxiv = result.details.get("doi"), result.details.get("arxiv")
    if isinstance(doi, str) and (found := doi_of(doi)):
        names.append(found.url)
    if isinstance(arxiv, str) and arxiv:
        names.append(f"https://arxiv.org/abs/{arxiv}")
    return names


def _labelled(name: str, found: WebResults) -> list[WebResult]:
    return [replace(each, details={**each.details, PROVIDER: name}) for each in found.results]


def _merged(forms: Sequence[WebResult]) -> WebResult:
    """One result with all that its forms say; where they differ, the first one counts."""
    best = forms[0]
    details = {name: value for form in reversed(forms) for name, value in form.details.items()}
    names = dict.fromkeys(str(form.details[PROVIDER]) for form in forms)
    titled = next((form.title for form in forms if form.title != form.url), best.title)
    return replace(
        best,
        title=titled,
        snippet=max((form.snippet for form in forms), key=len),
        published=next((form.published for form in forms if form.published), None),
        details={**details, PROVIDER: ", ".join(names)},
    )


def _notes(name: str, found: WebResults, order: Sequence[str]) -> list[str]:
    return [f"{name}: {note}" if len(order) > 1 else note for note in found.notes]
