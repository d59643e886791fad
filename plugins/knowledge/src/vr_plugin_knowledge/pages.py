"""Pages of a long result: as much as fits, and a cursor to what follows."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel
from vr_kernel import Code, VrError

from vr_plugin_knowledge.excerpts import estimate_tokens

M = TypeVar("M", bound=BaseModel)
PAGE_TOKENS = 3000


def take_page(items: Sequence[M], start: int) -> list[M]:
    """The items from `start` on that fit into one result, at least one."""
    page: list[M] = []
    spent = 0
    for item in items[start:]:
        spent += estimate_tokens(item.model_dump(mode="json"))
        if page and spent > PAGE_TOKENS:
            break
        page.append(item)
    return page


def fingerprint(**question: Any) -> str:
    """What ties a cursor to the question that it continues."""
    text = json.dumps(question, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def write_cursor(question: str, start: int) -> str:
    """A cursor to the items from `start` on."""
    return base64.urlsafe_b64encode(f"{question}:{start}".encode()).decode().rstrip("=")


def read_cursor(cursor: str | None, question: str) -> int:
    """Where the page begins; 0 without a cursor.

    Raises:
        VrError: INVALID_INPUT for a cursor of another question, or none of ours.
    """
    if not cursor:
        return 0
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        owner, _, start = base64.urlsafe_b64decode(padded).decode("ascii").partition(":")
    except (binascii.Error, ValueError):
        owner, start = "", ""
    if owner != question or not start.isdecimal():
        raise VrError(
            "The cursor does not belong to this question.",
            Code.INVALID_INPUT,
            hint="Give next_cursor of the page before, and the same arguments as there.",
        )
    return int(start)
