"""Requests to language models, and their replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema

from vr_kernel.generation.conversation import Media, Part, Text, ToolCall, Turn

Role = Literal["default", "fast", "deep", "vision", "embedding", "judge", "recursive"]
"""A use of models; configuration maps each role to models, best first."""
ThinkingLevel = Literal["minimal", "low", "medium", "high"]
Purpose = Literal["document", "query"]
"""The use of an embedding: for a text that is searched, or for the query."""
COST_DIGITS = 9
"""Digits of a cost in dollars: equal costs are equal numbers, in whatever order they are summed."""
THINKING_LEVELS: tuple[ThinkingLevel, ...] = ("minimal", "low", "medium", "high")


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """The declaration of a tool that a model may call.

    Args:
        name: begins with a letter or `_`; at most 64 letters, digits, `_` and `-`.
        description: what it does, and when to call it.
        schema: the JSON schema of its arguments, an object.
    """

    name: str
    description: str
    schema: Mapping[str, Any]

    @property
    def identity(self) -> dict[str, Any]:
        """All of it, as JSON."""
        return {"name": self.name, "description": self.description, "schema": dict(self.schema)}


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that a model's answer depends on, except the model itself.

    Args:
        turns: the conversation, the newest turn last.
        system: the system instruction.
        schema: a JSON schema that the answer must fit; free text when left out.
        thinking: how hard to think; the model's own choice when left out.
        temperature: how free to choose words, 0 to 2; the model's own choice when left out.
        max_output_tokens: where to cut the answer.
        search: let the model search the web and name its sources.
        url_context: let the model read the addresses that the request names.
        cached_content: name of a context cache that holds the beginning of the request.
        tools: the tools that the model may call instead of answering, or while it answers.
    """

    turns: tuple[Turn, ...]
    system: str = ""
    schema: Mapping[str, Any] | None = None
    thinking: ThinkingLevel | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    search: bool = False
    url_context: bool = False
    cached_content: str = ""
    tools: tuple[ToolSpec, ...] = ()

    @property
    def kinds(self) -> set[str]:
        """The kinds of media in it."""
        return {p.kind for turn in self.turns for p in turn.parts if isinstance(p, Media)}

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that changes the answer, as JSON; a context cache changes only its price."""
        return {
            "turns": [[turn.speaker, [_identity(p) for p in turn.parts]] for turn in self.turns],
            "system": self.system,
            "schema": self.schema,
            "thinking": self.thinking,
            "temperature": self.temperature,
            "max_output_tokens": self.max_output_tokens,
            "search": self.search,
            "url_context": self.url_context,
            **({"tools": [tool.identity for tool in self.tools]} if self.tools else {}),
        }


class Options(TypedDict, total=False):
    """Options of a question to a model. What is left out is as configured, or off."""

    system: str
    """The system instruction."""
    thinking: ThinkingLevel | None
    """The effort of thinking."""
    temperature: float | None
    """The freedom in choosing words, 0 to 2."""
    max_output_tokens: int | None
    """Most tokens of the answer."""
    search: bool
    """Let the model search the web and name its sources."""
    url_context: bool
    """Let the model read the addresses that the request names."""
    cached_content: str
    """A context cache that holds the beginning of the request."""
    tools: Sequence[ToolSpec]
    """The tools that the model may call; the reply has the `calls`."""
    model: str
    """The one model to ask, over the role: `provider/model`, or the name of a preset."""


class Usage(BaseModel):
    """The cost of requests in tokens; `output_tokens` leaves out thinking.

    `cached_tokens` are a part of `input_tokens`. `cost_usd` is in US dollars, and None when a
    price is not known. The last four have prices of their own: the sound among the input that was
    not cached, and among that which was; the input that was written to a cache; and the searches of
    the web. They only price an answer that has just arrived, and are not shown.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    thinking_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = None
    audio_tokens: SkipJsonSchema[int] = Field(0, exclude=True, repr=False)
    cached_audio_tokens: SkipJsonSchema[int] = Field(0, exclude=True, repr=False)
    written_tokens: SkipJsonSchema[int] = Field(0, exclude=True, repr=False)
    searches: SkipJsonSchema[int] = Field(0, exclude=True, repr=False)

    def __add__(self, other: Usage) -> Usage:
        """The sum of both; its cost is known when those of both are."""
        paid = [usage.cost_usd for usage in (self, other) if usage.charged]
        known = [cost for cost in paid if cost is not None]
        tokens = {name: getattr(self, name) + getattr(other, name) for name in _COUNTS}
        whole = known and len(known) == len(paid)
        return Usage(**tokens, cost_usd=round(sum(known), COST_DIGITS) if whole else None)

    @property
    def charged(self) -> bool:
        """True when anything was counted."""
        return any(getattr(self, name) for name in _COUNTS)

    def booked(self, cost_usd: float | None) -> Usage:
        """The same counts with what they cost, without those that only price them."""
        return Usage(**{name: getattr(self, name) for name in _COUNTS}, cost_usd=cost_usd)


_COUNTS = ("calls", "input_tokens", "output_tokens", "thinking_tokens", "cached_tokens")


class WebSource(BaseModel):
    """A page that grounds an answer."""

    title: str
    url: str


class Reply(BaseModel):
    """A whole answer. `model` is the one that gave it; `notes` say what was done differently.

    With `calls` it is not the last word: say its `turn` again, followed by their results.
    """

    text: str
    model: str
    usage: Usage = Usage()
    sources: list[WebSource] = []
    notes: list[str] = []
    calls: list[ToolCall] = []
    state: dict[str, Any] | None = None
    """See `Turn.state`."""

    @property
    def turn(self) -> Turn:
        """The answer as a part of the history."""
        said = (Text(self.text),) if self.text else ()
        return Turn("model", (*said, *self.calls), self.state)


class ReplyPiece(BaseModel):
    """A piece of a streamed answer; the last one has no text but the whole usage."""

    text: str = ""
    reply: Reply | None = None


class Embeddings(BaseModel):
    """One vector an item, in order, from one model."""

    vectors: list[list[float]]
    model: str
    usage: Usage = Usage()


def _identity(part: Part) -> Any:
    return part.text if isinstance(part, Text) else part.identity
