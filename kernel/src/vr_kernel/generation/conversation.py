"""Conversations with language models: the parts that either side says, and its turns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from io import BufferedReader
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, InstanceOf

MediaResolution = Literal["low", "medium", "high"]
OF_WORKSPACE = "|"
"""Separates the name of a workspace from the digest of a file of its own."""
_YOUTUBE = ("youtube.com", "youtu.be")
_KINDS = ("text", "image", "audio", "video")
_DOCUMENTS = {"application/json": "text", "application/xml": "text", "application/pdf": "pdf"}


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
    file: Annotated[InstanceOf[BufferedReader] | None, Field(exclude=True)] = field(
        default=None, compare=False, repr=False
    )
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


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish that a tool be called; it is answered with a `ToolResult` of the same id.

    Args:
        id: tells the calls of a conversation apart.
        name: of the tool; a model may name one that it was not offered.
        arguments: as the model gave them, not checked against any schema.
        problem: why the arguments cannot be used, when they are no JSON object; `arguments` is
            empty then. Answer with a failed result that says so.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""

    @classmethod
    def read(cls, id: str, name: str, arguments: Any) -> ToolCall:  # noqa: A002 - the field
        """A call whose arguments came from a model: JSON text, an object, or anything else."""
        try:
            value = json.loads(arguments) if isinstance(arguments, str) else arguments
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            return cls(id, name, problem=f"The arguments are no JSON: {error}.")
        if not isinstance(value, dict):
            return cls(id, name, problem="The arguments are no JSON object.")
        return cls(id, name, value)

    @property
    def identity(self) -> dict[str, Any]:
        """All of it, as JSON."""
        return {"call": self.id, "name": self.name, "arguments": dict(self.arguments)}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to a call: its id, what the tool returned or why it failed, and if it failed."""

    id: str
    content: str
    failed: bool = False

    @property
    def identity(self) -> dict[str, Any]:
        """All of it, as JSON."""
        return {"result": self.id, "content": self.content, "failed": self.failed}


Part = Text | Media | ToolCall | ToolResult


@dataclass(frozen=True, slots=True)
class Turn:
    """The parts that one side of a conversation said.

    Args:
        speaker: the model makes calls, the user answers them.
        parts: in order.
        state: what the model that made the turn wants back unchanged, as JSON, such as signatures
            of its thoughts. It names that model, and is left out for any other.
    """

    speaker: Literal["user", "model"]
    parts: tuple[Part, ...]
    state: Mapping[str, Any] | None = None

    @property
    def calls(self) -> list[ToolCall]:
        """The calls in it."""
        return [part for part in self.parts if isinstance(part, ToolCall)]

    @property
    def results(self) -> list[ToolResult]:
        """The results in it."""
        return [part for part in self.parts if isinstance(part, ToolResult)]

    @property
    def text(self) -> str:
        """The words in it."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))
