"""Offers the providers of language models; a client library is imported at the first request."""

from __future__ import annotations

from typing import Any

from vr_kernel import Provider, hookimpl


@hookimpl
def vr_providers() -> list[Provider[Any]]:
    """The providers, in the order in which they are asked."""
    return []
