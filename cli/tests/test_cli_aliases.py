"""Commands of tools: an alias is none, whatever word it is, and their help is plain text."""

from __future__ import annotations

from typing import Annotated, Any

from click import Context
from pydantic import BaseModel, Field
from vr_cli.calling.tool_command import tool_command
from vr_cli.index import command_names
from vr_kernel import READ_ONLY, Call, tool


class Word(BaseModel):
    """A result."""

    text: str = ""


@tool(effects=READ_ONLY, aliases=["analyze", "serve", "list"])
async def say_word(call: Call) -> Word:
    """Say it."""
    return Word()


@tool(effects=READ_ONLY)
async def say_loudly(call: Call, word: Annotated[str, Field(description="\x1b[31mRed")]) -> Word:
    """Say \x1b]0;title\x07it\u202e loudly."""
    return Word()


async def test_help_has_no_signs_that_a_terminal_obeys(start: Any, make_plugin: Any) -> None:
    kernel = await start({"speech": make_plugin(tools=[say_loudly])})
    command = tool_command(kernel, kernel.tools["say_loudly"])
    shown = command.get_help(Context(command)) + command_names(kernel)["say"]["loudly"]
    assert "loudly." in shown
    assert "Red" in shown
    assert not {"\x1b", "\x07", "\u202e"} & {*shown}


async def test_aliases_are_no_commands(start: Any, make_plugin: Any) -> None:
    kernel = await start({"speech": make_plugin(tools=[say_word])})
    assert {status.name: status.state for status in kernel.plugins()}["speech"] == "loaded"
    names = command_names(kernel)
    assert names["say"] == {"word": "Say it."}
    assert not {"analyze", "serve", "list"} & names.keys()
