"""Checks of `vr doctor`: the services that can be asked, and what the others lack."""

from __future__ import annotations

from collections.abc import Iterator

from vr_kernel import Check, Diagnosis, SearchProvider, Services

from vr_plugin_search.engines.gemini import PREFIX, ROLE
from vr_plugin_search.engines.service import Service
from vr_plugin_search.engines.service_rows import GEMINI, ROWS
from vr_plugin_search.joining.order import JOINED
from vr_plugin_search.settings import SearchSettings


def search_checks(services: Services) -> list[Check]:
    """The checks of the plugin; none of them asks a service."""
    return [
        Check("web search", lambda: web_search(services)),
        Check("paper search", lambda: paper_search(services)),
    ]


def web_search(services: Services) -> Diagnosis:
    """Check which services can search the web."""
    settings: SearchSettings = services.settings
    ready = [name for name in settings.order if _is_ready(services, name)]
    unknown = list(_unknown(services, settings.order))
    if unknown:
        names = ", ".join(map(repr, unknown))
        return Diagnosis.warning(f"No plugin provides {names}.", "Check order in [plugins.search].")
    if ready:
        lacking = [name for name in settings.order if name not in ready]
        rest = f" Not set up: {', '.join(lacking)}." if lacking else ""
        return Diagnosis.ok(f"Asked in this order: {', '.join(ready)}.{rest}")
    ways = [f"{ROWS[name].key} ({ROWS[name].page})" for name in ("brave", "tavily", "exa")]
    return Diagnosis.warning(
        "No service can search the web.",
        f"Set gemini_api_keys in [models] ({GEMINI.page}), searxng_url in [plugins.search] for a"
        f" SearXNG of your own, or one of {', '.join(ways)}.",
    )


def paper_search(services: Services) -> Diagnosis:
    """Check which services can search papers, and which have a key of the user's own."""
    settings: SearchSettings = services.settings
    unknown = list(_unknown(services, settings.paper_order))
    if unknown:
        names = ", ".join(map(repr, unknown))
        fix = "Check paper_order in [plugins.search]."
        return Diagnosis.warning(f"No plugin provides {names}.", fix)
    keyless = [
        name
        for name in settings.paper_order
        if name in ROWS and ROWS[name].key and not Service(services, ROWS[name]).key
    ]
    shared = f" Without a key, so with a low limit: {', '.join(keyless)}." if keyless else ""
    return Diagnosis.ok(f"Asked in this order: {', '.join(settings.paper_order)}.{shared}")


def _is_ready(services: Services, name: str) -> bool:
    if name == GEMINI.name:
        return any(each.startswith(PREFIX) for each in services.models.suggested(ROLE))
    row = ROWS.get(name)
    if row is None:
        return name not in _unknown(services, [name])
    service = Service(services, row)
    return bool(service.address and (service.key or not row.needs_key))


def _unknown(services: Services, names: list[str]) -> Iterator[str]:
    known = services.providers.names(SearchProvider)
    return (name for name in names if name not in known or name in JOINED)
