"""Arguments of the knowledge tools.

Lengths are checked without being named in the schema: every client would pay for them each time it
lists the tools, and only a broken client exceeds them.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

MAX_QUERY = 2000
MAX_NAME = 200


def bound(limit: int) -> AfterValidator:
    """Refuse a text of more than `limit` characters, or a list of more elements."""

    def check(value: str | list[str] | None) -> str | list[str] | None:
        if value is not None and len(value) > limit:
            raise PydanticCustomError(
                "too_long",
                "is too long: {length}, at most {limit}",
                {"length": len(value), "limit": limit},
            )
        return value

    return AfterValidator(check)


Name = Annotated[str, bound(MAX_NAME)]
OptionalName = Annotated[str | None, bound(MAX_NAME)]
OptionalNames = Annotated[list[Name] | None, bound(MAX_NAME)]
Collections = Annotated[OptionalNames, Field(description="Names from knowledge_schema; else all")]
FieldValue = Annotated[OptionalName, Field(description="Value of that field: knowledge_schema")]
Workspace = Annotated[OptionalName, Field(description="Separate store; else the configured")]
Question = Annotated[str, bound(MAX_QUERY)]
