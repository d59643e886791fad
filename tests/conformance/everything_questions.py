"""The tools of the suite that ask the user something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from vr_kernel import READ_ONLY, Call, tool


class Said(BaseModel):
    """Words of a tool."""

    text: str


class User(BaseModel):
    """The one who answers."""

    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


class Name(BaseModel):
    """The name of somebody."""

    name: str


class Color(BaseModel):
    """Things that somebody likes."""

    color: str


class Consent(BaseModel):
    """Yes or no."""

    ok: bool


class Profile(BaseModel):
    """A default of every kind."""

    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Literal["active", "inactive", "pending"] = "active"
    verified: bool = True


def titled(keyword: str, kind: str) -> dict[str, Any]:
    """Choices with a title each."""
    words = (("value1", "First"), ("value2", "Second"), ("value3", "Third"))
    return {keyword: [{"const": value, "title": f"{title} {kind}"} for value, title in words]}


def _titled_items(schema: dict[str, Any]) -> None:
    schema["items"] = titled("anyOf", "Choice")


class Choices(BaseModel):
    """Every way to write a choice."""

    model_config = ConfigDict(alias_generator=to_camel)

    untitled_single: Literal["option1", "option2", "option3"] = "option1"
    titled_single: str = Field("value1", json_schema_extra=titled("oneOf", "Option"))
    legacy_enum: Literal["opt1", "opt2", "opt3"] = Field(
        "opt1", json_schema_extra={"enumNames": ["Option One", "Option Two", "Option Three"]}
    )
    untitled_multi: list[Literal["option1", "option2", "option3"]] = ["option1"]
    titled_multi: list[str] = Field(["value1"], json_schema_extra=_titled_items)


@tool(effects=READ_ONLY)
async def test_elicitation(call: Call, message: str) -> Said:
    """Ask the user who they are."""
    user = await call.ask(message, User, default=User(username="", email=""))
    return Said(text=f"User response: {user}")


@tool(effects=READ_ONLY)
async def test_elicitation_sep1034_defaults(call: Call) -> Said:
    """Ask for a profile."""
    profile = await call.ask("Who are you?", Profile, default=Profile())
    return Said(text=f"Elicitation completed: {profile}")


@tool(effects=READ_ONLY)
async def test_elicitation_sep1330_enums(call: Call) -> Said:
    """Ask for choices."""
    choices = await call.ask("Which ones?", Choices, default=Choices())
    return Said(text=f"Elicitation completed: {choices}")


@tool(effects=READ_ONLY)
async def test_streaming_elicitation(call: Call) -> Said:
    """Ask for a name after some progress."""
    call.progress(0, 1)
    return await test_input_required_result_elicitation(call)


@tool(effects=READ_ONLY)
async def test_input_required_result_elicitation(call: Call) -> Said:
    """Ask for a name."""
    answer = await call.ask("What is your name?", Name, default=Name(name="nobody"))
    return Said(text=f"Hello, {answer.name}!")


@tool(effects=READ_ONLY)
async def test_input_required_result_request_state(call: Call) -> Said:
    """Ask for consent."""
    answer = await call.ask("Please confirm", Consent, default=Consent(ok=False))
    return Said(text="state-ok" if answer.ok else "no")


@tool(effects=READ_ONLY)
async def test_input_required_result_tampered_state(call: Call) -> Said:
    """Ask for consent."""
    return await test_input_required_result_request_state(call)


@tool(effects=READ_ONLY)
async def test_input_required_result_multi_round(call: Call) -> Said:
    """Ask twice."""
    who = await call.ask("Step 1: What is your name?", Name, default=Name(name="nobody"))
    what = await call.ask(
        "Step 2: What is your favorite color?", Color, default=Color(color="none")
    )
    return Said(text=f"{who.name} likes {what.color}.")


@tool(effects=READ_ONLY)
async def test_input_required_result_capabilities(call: Call) -> Said:
    """Ask for a name where the client can."""
    return await test_input_required_result_elicitation(call)


TOOLS: list[Callable[..., Any]] = [
    test_elicitation,
    test_elicitation_sep1034_defaults,
    test_elicitation_sep1330_enums,
    test_input_required_result_capabilities,
    test_input_required_result_elicitation,
    test_input_required_result_multi_round,
    test_input_required_result_request_state,
    test_input_required_result_tampered_state,
    test_streaming_elicitation,
]
