"""Marks in rows that say which principal they belong to."""

from __future__ import annotations

OWNER = "owner"
"""The owner's mark. The name of the system's user could change, and could be a token's, too."""
PREFIX = "token:"
_IS_TOKENS = f"substr(principal, 1, {len(PREFIX)}) = '{PREFIX}'"
MARK = f"CASE WHEN {_IS_TOKENS} THEN principal ELSE '{OWNER}' END"
"""SQL: the mark of a row: a token's, else the owner's; older rows have a user's name."""


def mark_of(principal: str, owner: str) -> str:
    """The mark of a principal's rows; `owner` is the principal who runs the program."""
    return OWNER if principal == owner else f"{PREFIX}{principal}"


def principal_of(mark: str, owner: str) -> str:
    """The principal of a row."""
    return mark.removeprefix(PREFIX) if mark.startswith(PREFIX) else owner
