"""Functions as models: arguments by name, and the JSON schemas of both ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.signatures.schema_cache import ToolSchemas

__all__ = [
    "ToolSchemas",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "schema_cache": "ToolSchemas",
    },
)
