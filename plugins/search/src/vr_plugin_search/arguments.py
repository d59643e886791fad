"""Arguments of the tools as people give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from vr_kernel import Code, VrError

Recency = Literal["day", "week", "month", "year"]
"""As `vr_kernel.Recency`, whose module a server need not import when it starts."""
MOST_DOMAINS = 20


def domains_of(given: Sequence[str]) -> tuple[str, ...]:
    """The domains in what a caller names: hosts, addresses, or hosts with a star before them.

    Raises:
        VrError: INVALID_INPUT for too many of them.
    """
    if len(given) > MOST_DOMAINS:
        raise VrError(
            f"{len(given)} domains are too many.",
            Code.INVALID_INPUT,
            hint=f"At most {MOST_DOMAINS} are searched.",
        )
    return tuple(map(_domain, given))


def _domain(given: str) -> str:
    host = given.strip().lower()
    host = host.partition("://")[2] or host
    host = host.partition("/")[0].partition("?")[0].partition(":")[0]
    return host.removeprefix("*.").removeprefix("www.").strip(".")
