"""Checks of providers: a store, an embedder, a reader of text in pictures."""

from __future__ import annotations

from functools import partial
from typing import Any

from vr_kernel.errors import VrError
from vr_kernel.health import Check, Diagnosis
from vr_kernel.protocols.work import Providers
from vr_kernel.providers import Embedder, TextRecognizer
from vr_kernel.stores import Store

_KINDS: dict[str, tuple[type[Any], str]] = {
    "store": (Store, "records stay in the journal and cannot be searched"),
    "embedder": (Embedder, "search works by keyword alone"),
    "text recogniser": (TextRecognizer, "text on screen is not read"),
}
"""Kinds, each with the effect of having none."""


def provider_checks(providers: Providers) -> list[Check]:
    """One check a kind."""
    return [Check(name, partial(provided, providers, *it)) for name, it in _KINDS.items()]


def provided(providers: Providers, kind: type[Any], without: str) -> Diagnosis:
    """Check that there is one of that kind, and the configured one is among them."""
    names = providers.names(kind)
    try:
        chosen = providers.get(kind)
    except VrError as error:
        if names:
            return Diagnosis.fault(error.message, f"{error.hint} Correct it in config.toml.")
        return Diagnosis.warning(f"None is installed: {without}.", error.hint)
    return Diagnosis.ok(f"{getattr(chosen, 'name', None) or getattr(chosen, 'id', names[0])}.")
