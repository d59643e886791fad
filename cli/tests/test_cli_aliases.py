"""An alias of a tool is no command, whatever word it is."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from vr_cli.index import command_names
from vr_kernel import READ_ONLY, Call, tool


class Word(BaseModel):
    """A result."""

    text: str = ""


@tool(effects=READ_ONLY, aliases=["analyze", "serve", "list"])
async def say_word(call: Call) -> Word:
    """Say it."""
    return Word()


async def test_aliases_are_no_commands(start: Any, make_plugin: Any) -> None:
    kernel = await start({"speech": make_plugin(tools=[say_word])})
    assert {status.name: status.state for status in kernel.plugins()}["speech"] == "loaded"
    names = command_names(kernel)
    assert names["say"] == {"word": "Say it."}
    assert not {"analyze", "serve", "list"} & names.keys()
