"""Requests to language models, and their replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from io import BufferedReader
from typing import Any, Literal, TypedDict
from urllib.parse import urlsplit

from pydantic import BaseModel

Role = Literal["default", "fast", "deep", "vision", "embedding", "judge", "recursive"]
"""A use of models; configuration maps each role to models, best first."""
ThinkingLevel = Literal["minimal", "low", "medium", "high"]
MediaResolution = Literal["low", "medium", "high"]
Purpose = Literal["document", "query"]
"""The use of an embedding: for a text that is searched, or for the query."""
OF_WORKSPACE = "|"
"""Separates the name of a workspace from the digest of a file of its own."""
_YOUTUBE = ("youtube.com", "youtu.be")
_KINDS = ("text", "image", "audio", "video")
_DOCUMENTS = {"application/json": "text", "application/xml": "text", "application/pdf": "pdf"}
THINKING_LEVELS: tuple[ThinkingLevel, ...] = ("minimal", "low", "medium", "high")


@dataclass(frozen=True, slots=True)
class Text:
    """Words of a request."""

    text: str


@dataclass(frozen=True, slots=True)
class Media:
    """A file, an address or a YouTube video that a model is to watch, hear or read.

    Args:
        mime: the media type, such as `video/mp4`.
        file: an opened file; the provider reads it from its start and leaves it open.
        digest: SHA-256 of the file in hexadecimal, which names it across runs; see `kept_for`.
        uri: instead of a file, an address that the provider itself reads.
        start: the beginning of the wanted part, in seconds; the whole when left out.
        end: the end of the wanted part, in seconds.
        fps: frames a second that the model looks at; its own choice when left out.
        resolution: how finely it looks at each frame.
        duration: how long the whole is, in seconds, where that is known; only counted in the
            usage ledger, never sent.
    """

    mime: str
    file: BufferedReader | None = field(default=None, compare=False, repr=False)
    digest: str = ""
    uri: str = ""
    start: float | None = None
    end: float | None = None
    fps: float | None = None
    resolution: MediaResolution | None = None
    duration: float | None = field(default=None, compare=False)

    @classmethod
    def youtube(
        cls,
        video_id: str,
        *,
        start: float | None = None,
        end: float | None = None,
        fps: float | None = None,
        resolution: MediaResolution | None = None,
        duration: float | None = None,
    ) -> Media:
        """A public YouTube video by its id."""
        return cls(
            "video/*",
            uri=f"https://www.youtube.com/watch?v={video_id}",
            start=start,
            end=end,
            fps=fps,
            resolution=resolution,
            duration=duration,
        )

    @property
    def seconds(self) -> float:
        """Length of the wanted part; 0 when neither its end nor the whole is known."""
        end = self.duration if self.end is None else self.end
        return 0.0 if end is None else max(0.0, end - (self.start or 0.0))

    @property
    def kind(self) -> str:
        """`text`, `image`, `audio`, `video`, `pdf` or `youtube`; else the media type itself."""
        host = (urlsplit(self.uri).hostname or "").removeprefix("www.").removeprefix("m.")
        if host in _YOUTUBE:
            return "youtube"
        kind = self.mime.partition("/")[0]
        return kind if kind in _KINDS else _DOCUMENTS.get(self.mime, self.mime)

    def kept_for(self, workspace: str) -> Media:
        """The file as one of a workspace: a service keeps equal files of workspaces apart."""
        own = workspace and self.digest and OF_WORKSPACE not in self.digest
        return replace(self, digest=f"{workspace}{OF_WORKSPACE}{self.digest}") if own else self

    @property
    def identity(self) -> dict[str, Any]:
        """All that changes what a model sees, as JSON."""
        return {
            "mime": self.mime,
            "content": self.digest or self.uri,
            "start": self.start,
            "end": self.end,
            "fps": self.fps,
            "resolution": self.resolution,
        }


Part = Text | Media


@dataclass(frozen=True, slots=True)
class Turn:
    """The parts that one side of a conversation said."""

    speaker: Literal["user", "model"]
    parts: tuple[Part, ...]


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


class Usage(BaseModel):
    """The cost of requests in tokens; `output_tokens` leaves out thinking."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    thinking_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        """The sum of both."""
        return Usage(
            **{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields}
        )


class WebSource(BaseModel):
    """A page that grounds an answer."""

    title: str
    url: str


class Reply(BaseModel):
    """A whole answer. `model` is the one that gave it; `notes` say what was done differently."""

    text: str
    model: str
    usage: Usage = Usage()
    sources: list[WebSource] = []
    notes: list[str] = []


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
