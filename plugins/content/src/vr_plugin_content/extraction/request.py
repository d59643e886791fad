"""The request for an extraction."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from vr_kernel import VrError, check_schema

from vr_plugin_content.arguments import ThinkingLevel


@dataclass(frozen=True, slots=True)
class ExtractionRequest:
    """The form of the data, a hint for the model, and how hard it is to think."""

    schema: dict[str, Any]
    instruction: str
    thinking_level: ThinkingLevel


async def require_schema(schema: dict[str, Any]) -> None:
    """Refuse a schema that no answer could be checked against.

    Raises:
        VrError: TOO_LARGE, category SCHEMA_TOO_LARGE; INVALID_INPUT, category SCHEMA_INVALID.
    """
    try:
        await asyncio.to_thread(check_schema, schema)
    except VrError as error:
        told = error.message.replace("output_schema", "schema", 1)
        raise VrError(told, error.code, category=error.category, hint=error.hint) from None
