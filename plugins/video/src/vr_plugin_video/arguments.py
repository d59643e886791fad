"""Arguments that video tools share; every client pays for every word of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema
from vr_kernel import Code, VrError

_CODE_LENGTHS = (2, 3)


def language_code(value: str) -> str:
    """A language code in lower case, without a region.

    Raises:
        ValueError: when it is none.
    """
    code = value.strip().lower().partition("-")[0]
    if not (code.isascii() and code.isalpha() and len(code) in _CODE_LENGTHS):
        raise ValueError("give a language code such as en")
    return code


VideoUrl = Annotated[str, Field(description="Web video; exactly one of url, file_path")]
YouTubeUrl = Annotated[str, Field(description="YouTube video")]
MediaPath = Annotated[str, Field(description="Local video or audio")]
# Offered as text alone, which every client understands; numbers are taken as well.
Start = Annotated[
    float | str, WithJsonSchema({"type": "string", "description": "Seconds or mm:ss"})
]
End = Annotated[float | str, WithJsonSchema({"type": "string"})]
UseCache = Annotated[bool, Field(description="False pays anew")]
Instruction = Annotated[
    str, Field(description="What to find out, or 'meeting' for decisions and tasks")
]
OutputSchema = Annotated[
    dict[str, Any],
    WithJsonSchema({"type": "object", "description": "JSON Schema of the answer, in custom"}),
]
Language = Annotated[str, AfterValidator(language_code), Field(description="Such as en")]
ThinkingLevel = Literal["minimal", "low", "medium", "high"]
MediaResolution = Literal["low", "medium", "high"]
EngineChoice = Literal["auto", "gemini", "local"]
Engine = Annotated[EngineChoice, Field(description="auto: a model with a key")]
Detail = Annotated[Literal["brief", "full"], Field(description="full adds the transcript")]

DEFAULT_INSTRUCTION = "Comprehensive analysis"
DEFAULT_THINKING: ThinkingLevel = "high"
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
