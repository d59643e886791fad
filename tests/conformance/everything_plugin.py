"""The plugin that the conformance suite wants to meet: its names and texts are the suite's."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import everything_jobs
import everything_questions
from everything_questions import Said
from pydantic import BaseModel, ConfigDict, Field
from vr_kernel import (
    READ_ONLY,
    Call,
    Code,
    Content,
    Message,
    Services,
    VrError,
    hookimpl,
    prompt,
    resource,
    tool,
)

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
SOUND = base64.b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")
PAUSE_S = 0.05
"""Seconds that the suite wants between two signs of progress."""


class address(BaseModel):  # noqa: N801 - the suite's name
    """An address of somebody; a definition of its own in the schema."""

    model_config = ConfigDict(json_schema_extra={"$anchor": "addressDef"})

    street: str = ""
    city: str = ""


@tool(effects=READ_ONLY)
async def test_simple_text(call: Call) -> Said:
    """Say something."""
    del call
    return Said(text="This is a simple text response for testing.")


@tool(effects=READ_ONLY)
async def test_image_content(call: Call) -> Said:
    """Show an image."""
    call.show(Content(PIXEL, "image/png"))
    return Said(text="One pixel.")


@tool(effects=READ_ONLY)
async def test_audio_content(call: Call) -> Said:
    """Show a sound."""
    call.show(Content(SOUND, "audio/wav"))
    return Said(text="One sample.")


@tool(effects=READ_ONLY)
async def test_embedded_resource(call: Call) -> Said:
    """Show a file."""
    text = "This is an embedded resource content."
    call.show(Content(text, uri="test://embedded-resource"))
    return Said(text="One file.")


@tool(effects=READ_ONLY)
async def test_multiple_content_types(call: Call) -> Said:
    """Show a text, an image and a file."""
    call.show(Content(PIXEL, "image/png"))
    file = '{"test":"data","value":123}'
    call.show(Content(file, "application/json", "test://mixed-content-resource"))
    return Said(text="Multiple content types test:")


@tool(effects=READ_ONLY)
async def test_tool_with_progress(call: Call) -> Said:
    """Say how far it is."""
    for done in (0, 50, 100):
        call.progress(done, 100)
        await asyncio.sleep(PAUSE_S)
    return Said(text="Done.")


@tool(effects=READ_ONLY)
async def test_reconnection(call: Call) -> Said:
    """Answer after a while, on the stream that the call opened."""
    del call
    await asyncio.sleep(PAUSE_S)
    return Said(text="Still here.")


@tool(effects=READ_ONLY)
async def test_error_handling(call: Call) -> Said:
    """Fail."""
    del call
    raise VrError("This tool intentionally returns an error for testing.", Code.UNAVAILABLE)


@tool(effects=READ_ONLY)
async def test_logging_tool(call: Call) -> Said:
    """Log what it does."""
    call.log.info("logged")
    return Said(text="Logged, on stderr.")


@tool(effects=READ_ONLY)
async def json_schema_2020_12_tool(
    call: Call, name: str = "", address: address | None = None
) -> Said:
    """Take an argument whose schema stands apart."""
    del call
    return Said(text=f"{name} {address}")


@tool(effects=READ_ONLY)
async def test_mirrored_header(
    call: Call,
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
) -> Said:
    """Take an argument that a client repeats in a header."""
    del call
    return Said(text=region)


@resource("test://static-text")
async def static_text(services: Services) -> str:
    """A text."""
    del services
    return "This is the content of the static text resource."


@resource("test://static-binary", mime="image/png")
async def static_binary(services: Services) -> bytes:
    """An image."""
    del services
    return PIXEL


@resource("test://watched-resource")
async def watched_resource(services: Services) -> str:
    """A resource that a client would like to be told of when it changes."""
    del services
    return "Watched resource content."


@resource("test://template/{id}/data", mime="application/json")
async def template(services: Services, id: str) -> str:  # noqa: A002 - the suite's name
    """One of many."""
    del services
    return f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'


@prompt
def test_simple_prompt() -> str:
    """Say something."""
    return "This is a simple prompt for testing."


@prompt
def test_prompt_with_arguments(
    arg1: Annotated[str, Field(description="First test argument")],
    arg2: Annotated[str, Field(description="Second test argument")],
) -> str:
    """Say two things."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> Sequence[Message]:  # noqa: N803
    """Hand over a file."""
    file = Content("Embedded resource content for testing.", uri=resourceUri)
    return [Message(file), Message("Please process the embedded resource above.")]


@prompt
def test_prompt_with_image() -> Sequence[Message]:
    """Hand over an image."""
    return [Message(Content(PIXEL, "image/png")), Message("Please analyze the image above.")]


@hookimpl
def vr_tools() -> list[Callable[..., Any]]:
    """The tools."""
    return [
        json_schema_2020_12_tool,
        test_audio_content,
        test_embedded_resource,
        test_error_handling,
        test_image_content,
        test_logging_tool,
        test_mirrored_header,
        test_multiple_content_types,
        test_reconnection,
        test_simple_text,
        test_tool_with_progress,
        *everything_questions.TOOLS,
        *everything_jobs.TOOLS,
    ]


@hookimpl
def vr_prompts() -> list[Callable[..., Any]]:
    """The prompts."""
    return [
        test_prompt_with_arguments,
        test_prompt_with_embedded_resource,
        test_prompt_with_image,
        test_simple_prompt,
    ]


@hookimpl
def vr_resources() -> list[Callable[..., Any]]:
    """The resources."""
    return [static_binary, static_text, template, watched_resource]
