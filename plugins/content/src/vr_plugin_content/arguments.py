"""Arguments that content tools share; every client pays for every word of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, WithJsonSchema
from vr_kernel import Code, VrError

FilePath = Annotated[str, Field(description="Or folder")]
Url = Annotated[str, Field(description="Or GitHub repository")]
OutputSchema = Annotated[
    dict[str, Any], WithJsonSchema({"type": "object", "description": "JSON Schema for custom"})
]
ThinkingLevel = Literal["minimal", "low", "medium", "high"]
EngineChoice = Literal["auto", "model", "local"]
Strict = Annotated[bool, Field(description="Drop points without a found quote")]
Password = Annotated[SecretStr, WithJsonSchema({"type": "string", "writeOnly": True})]

DEFAULT_INSTRUCTION = "Comprehensive analysis"
DEFAULT_THINKING: ThinkingLevel = "medium"
INSTRUCTION_CHARS = 20_000


def check_instruction(instruction: str) -> None:
    """Refuse an instruction that is too long.

    Raises:
        VrError: TOO_LARGE.
    """
    if len(instruction) > INSTRUCTION_CHARS:
        raise VrError(
            f"The instruction has {len(instruction):,} characters.",
            Code.TOO_LARGE,
            hint=f"At most {INSTRUCTION_CHARS:,} are taken.",
        )


def require_one(**given: object) -> None:
    """Refuse several sources together, and none at all.

    Raises:
        VrError: INVALID_INPUT, category SOURCE_AMBIGUOUS.
    """
    if sum(value is not None for value in given.values()) != 1:
        names = ", ".join(given)
        raise VrError(
            f"Exactly one of {names} is needed.",
            Code.INVALID_INPUT,
            category="SOURCE_AMBIGUOUS",
            hint="Give file_path for a file on this machine, url for an address, text for words.",
        )
