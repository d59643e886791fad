"""Pages of a long result: as much as fits, and a cursor to what follows."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel
from vr_kernel import Call, Code, VrError, cache_key
from vr_kernel.text import take_fitting

from vr_plugin_knowledge.excerpts import json_tokens

M = TypeVar("M", bound=BaseModel)
HitId = tuple[str, str]
"""Collection and object id."""
PAGE_TOKENS = 3200
LEAST_TOKENS, MOST_TOKENS = 160, 600
"""Tokens of one hit. A page of up to twenty hits is complete, however long their records are."""


class _Shown(BaseModel):
    shown: list[HitId]


def room_of_hit(count: int) -> int:
    """Divide a page's tokens among `count` hits, so that one page has them all."""
    return max(LEAST_TOKENS, min(MOST_TOKENS, PAGE_TOKENS // max(1, count)))


def take_page(items: Iterable[M]) -> list[M]:
    """The first items, as many as fit into one result, at least one."""
    return take_fitting(items, PAGE_TOKENS, json_tokens)


def fingerprint(**question: Any) -> str:
    """Digest of a question, which ties a cursor to it."""
    text = json.dumps(question, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def write_cursor(question: str, start: int, shown: str = "") -> str:
    """A cursor to the items from `start` on; `shown` tells apart what came before."""
    text = f"{question}:{start}:{shown}"
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


async def shown_before(
    call: Call, cursor: str | None, start: int, hits: Sequence[HitId]
) -> list[HitId]:
    """The hits of the pages before a cursor, so that none is shown again.

    Between two pages the order may change, by new records or a failing reranker. When the cache has
    lost them, the first `start` hits are assumed.
    """
    kept = await call.services.cache.model(_key(cursor), _Shown).get() if cursor else None
    return list(hits[:start]) if kept is None else kept.shown


def continue_after(call: Call, question: str, shown: Sequence[HitId]) -> str:
    """A cursor to the hits after those that were shown, which are cached."""
    cursor = write_cursor(question, len(shown), fingerprint(shown=shown))
    call.keep(_key(cursor), _Shown(shown=list(shown)))
    return cursor


def places_besides(hits: Sequence[HitId], shown: Sequence[HitId]) -> list[int]:
    """Positions of the hits that were not shown."""
    seen = set(shown)
    return [place for place, hit in enumerate(hits) if hit not in seen]


def read_cursor(cursor: str | None, question: str) -> int:
    """Read the position at which the page begins; 0 without a cursor.

    Raises:
        VrError: INVALID_INPUT for a cursor of another question, or one that is not ours.
    """
    if not cursor:
        return 0
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        whole = base64.urlsafe_b64decode(padded).decode("ascii")
        owner, start, _ = (*whole.split(":", 2), "", "")[:3]
    except (binascii.Error, ValueError):
        owner, start = "", ""
    if owner != question or not start.isdecimal():
        raise VrError(
            "The cursor does not belong to this question.",
            Code.INVALID_INPUT,
            hint="Give next_cursor of the page before, and the same arguments as there.",
        )
    return int(start)


def _key(cursor: str) -> str:
    return cache_key(what="page", cursor=cursor)
