"""Requests to language models, made from the arguments of a tool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from vr_kernel.config.model_settings import ModelConfiguration
from vr_kernel.errors import Code, VrError
from vr_kernel.generation import Media, Options, Part, Request, Text, ToolResult, Turn
from vr_kernel.models.tool_calls import require_answered, require_tools

if TYPE_CHECKING:
    from vr_kernel.files.digests import Digests

Parts = str | Sequence[Part | str]
"""A user's question to a model: words, or words and media."""


@dataclass(frozen=True, slots=True)
class Requests:
    """Makes requests with the configured options, and with the digests of their files.

    Args:
        configuration: supplies what a request leaves open.
        digests: of files.
        workspace: whose files they are; empty for the owner's.
    """

    configuration: ModelConfiguration
    digests: Digests
    workspace: str

    async def make(
        self,
        parts: Parts,
        history: Sequence[Turn],
        schema: Mapping[str, Any] | None = None,
        **options: Unpack[Options],
    ) -> Request:
        """Make a request from what is said after `history`.

        Raises:
            VrError: INVALID_INPUT for an invalid thinking level or temperature, for parts that are
                none, for tools that no provider would take, for a call without its result, or a
                result without its call.
        """
        asked: dict[str, Any] = {**options, "tools": tuple(options.get("tools", ()))}
        asked.pop("model", None)  # who is asked is no part of what is asked
        asked["thinking"], asked["temperature"] = self.configuration.chosen(
            options.get("thinking"), options.get("temperature")
        )
        one = isinstance(parts, str | Mapping) or not isinstance(parts, Iterable)
        said: Iterable[Any] = [parts] if one else parts
        turn = Turn("user", tuple(Text(p) if isinstance(p, str) else p for p in said))
        _require_said([*history, turn])
        turns = [await self._identified(turn) for turn in (*history, turn)]
        if schema is not None and asked["tools"]:
            raise VrError(
                "An answer in a shape cannot call tools.",
                Code.INVALID_INPUT,
                hint="Ask for free text with tools, or for the shape without them.",
            )
        require_tools(asked["tools"])
        require_answered(turns)
        return Request(tuple(turns), schema=schema, **asked)

    async def _identified(self, turn: Turn) -> Turn:
        """The turn with the digests of its files, by which steps tell files apart."""
        if not any(map(_is_file, turn.parts)):
            return turn
        return replace(turn, parts=tuple([await self._with_digest(part) for part in turn.parts]))

    async def _with_digest(self, part: Part) -> Part:
        if not isinstance(part, Media) or part.file is None:
            return part
        if not part.digest:
            part = replace(part, digest=await self.digests.sha256(part.file))
        return part.kept_for(self.workspace)


def _is_file(part: Part) -> bool:
    return isinstance(part, Media) and part.file is not None


def _require_said(turns: Sequence[Turn]) -> None:
    """Refuse what a provider would leave out, or what could not be kept and read again."""
    for turn in turns:
        if not isinstance(turn, Turn):
            raise _invalid(f"The history has a {type(turn).__name__} where a Turn belongs")
        if turn.speaker not in ("user", "model"):
            raise _invalid(f"The speaker of a turn is {turn.speaker!r}, not 'user' or 'model'")
        if isinstance(turn.parts, str) or not isinstance(turn.parts, Sequence):
            raise _invalid(f"The parts of a turn are of the type {type(turn.parts).__name__}")
        for part in turn.parts:
            if not isinstance(part, Part):
                raise _invalid(f"A part of a turn is of the type {type(part).__name__}")
            if isinstance(part, Text) and not isinstance(part.text, str):
                raise _invalid(f"The text of a part is no text but {type(part.text).__name__}")
            if isinstance(part, ToolResult) and not isinstance(part.content, str):
                kind = type(part.content).__name__
                raise _invalid(f"The content of a ToolResult is no text but {kind}")


def _invalid(why: str) -> VrError:
    return VrError(
        f"{why}.",
        Code.INVALID_INPUT,
        category="TURN_INVALID",
        hint="A turn is Turn('user', (Text('…'),)), and of a reply its `turn`; a result that is no "
        "text is said as JSON: model_dump_json(), or json.dumps().",
    )
