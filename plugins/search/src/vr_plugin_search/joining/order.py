"""The services that a joined search asks: the configured ones in their order, then others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vr_kernel import Code, SearchProvider, Services, VrError, did_you_mean

WEB, PAPERS = "web", "papers"
JOINED = frozenset({WEB, PAPERS})
"""The joined searches themselves, which never ask each other."""
ALL = "all"


@dataclass(frozen=True, slots=True)
class Order:
    """Names of providers in the order in which they are asked, and remarks on the configuration."""

    names: tuple[str, ...]
    notes: tuple[str, ...] = ()


def order_of(services: Services, subject: str, configured: Sequence[str]) -> Order:
    """Return the providers of a subject, those that the configuration names first."""
    known = [name for name in services.providers.names(SearchProvider) if name not in JOINED]
    named = list(dict.fromkeys(configured))
    lost = [name for name in named if name not in known]
    others = [name for name in known if name not in named and _finds(services, name, subject)]
    notes = [
        f"The order in [plugins.search] names {name!r}, which no plugin provides."
        f" {did_you_mean(name, known)}".rstrip()
        for name in lost
    ]
    return Order((*(name for name in named if name in known), *others), tuple(notes))


def one_of(services: Services, subject: str, name: str) -> str:
    """Return the name of a provider of a subject that a caller names.

    Raises:
        VrError: INVALID_INPUT, naming the nearest one.
    """
    known = [each for each in services.providers.names(SearchProvider) if each not in JOINED]
    fitting = [each for each in known if _finds(services, each, subject)]
    for each in fitting:
        if each.casefold() == name.casefold():
            return each
    raise VrError(
        f"No provider of {subject} is called {name[:60]!r}.",
        Code.INVALID_INPUT,
        category="SEARCH_PROVIDER",
        hint=f"{did_you_mean(name, (*fitting, ALL))}Known: {', '.join((*fitting, ALL))}.",
    )


def _finds(services: Services, name: str, subject: str) -> bool:
    """Check if a provider finds pages, or papers; one that fails to say is not asked."""
    try:
        return subject in services.providers.get(SearchProvider, name).finds
    except VrError as error:
        services.log.warning("a search provider cannot be used", name=name, reason=error.told)
        return False
