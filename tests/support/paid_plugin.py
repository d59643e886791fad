"""A plugin whose tools pay for what they say: plain, in a shape, once, in long batches."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from pydantic import BaseModel, Field
from vr_kernel import (
    CALLS_OUT,
    READ_ONLY,
    Call,
    Record,
    RecordField,
    RecordKind,
    Usage,
    cache_key,
    hookimpl,
    tool,
)
from vr_kernel.generation import Media, Part, Role, Text, ToolResult, ToolSpec, Turn

ANSWERS = RecordKind(
    name="PaidAnswers",
    description="Answers that were paid for.",
    fields=(RecordField("text", description="The answer", searchable=True),),
    rerank="text",
)
LOOK_UP = ToolSpec("look_up", "Looks something up.", {"type": "object"})


class Said(BaseModel):
    """An answer, and what it cost."""

    text: str
    model: str = ""
    cached: bool = False
    usage: Usage | None = None


class Capital(BaseModel):
    """An answer in a shape."""

    city: str
    people: int = Field(ge=0)


class Shaped(BaseModel):
    """A shaped answer."""

    capital: Capital
    usage: Usage | None = None


class Batch(BaseModel):
    """The answers of a batch, in order."""

    texts: list[str]
    usage: Usage | None = None


@tool(effects=READ_ONLY | CALLS_OUT)
async def paid_ask(call: Call, question: str, models: list[str] | None = None) -> Said:
    """Ask a model."""
    del models
    reply = await call.services.models.generate(question)
    call.record(Record("PaidAnswers", {"text": reply.text}))
    return Said(text=reply.text, model=reply.model)


@tool(effects=READ_ONLY | CALLS_OUT)
async def paid_shape(call: Call, question: str) -> Shaped:
    """Ask a model for a shape."""
    found = await call.services.models.generate_structured(question, Capital)
    call.record(Record("PaidAnswers", {"text": found.value.city}))
    return Shaped(capital=found.value)


@tool(effects=READ_ONLY | CALLS_OUT)
async def paid_custom(call: Call, question: str, output_schema: dict[str, Any]) -> Said:
    """Ask a model for the caller's own shape."""
    found = await call.services.models.generate_structured(question, output_schema)
    return Said(text=found.reply.text, model=found.reply.model)


@tool(effects=READ_ONLY | CALLS_OUT)
async def paid_manner(
    call: Call,
    question: str,
    thinking: str | None = None,
    temperature: float | None = None,
    mime: str = "",
    role: Role = "default",
    shaped: bool = False,
) -> Said:
    """Ask a model in some manner, perhaps about a file."""
    parts: list[Part | str] = [Media(mime, uri="https://example.org/file")] if mime else []
    how: dict[str, Any] = {"role": role, "thinking": thinking, "temperature": temperature}
    if shaped:
        found = await call.services.models.generate_structured([*parts, question], Capital, **how)
        return Said(text=found.reply.text, model=found.reply.model)
    reply = await call.services.models.generate([*parts, question], **how)
    return Said(text=reply.text, model=reply.model)


@tool(effects=READ_ONLY | CALLS_OUT)
async def paid_stream(call: Call, question: str) -> Said:
    """Ask a model, and listen to it."""
    said = [piece async for piece in call.services.models.stream(question)]
    call.record(Record("PaidAnswers", {"text": "".join(piece.text for piece in said)}))
    return Said(text="".join(piece.text for piece in said))


@tool(effects=READ_ONLY | CALLS_OUT, long=True)
async def paid_once(call: Call, question: str, fail_after: bool = False) -> Said:
    """Ask a model what nobody asked before."""

    async def produce(shared: Call) -> Said:
        reply = await shared.services.models.generate(question)
        if fail_after:
            raise ZeroDivisionError
        shared.record(Record("PaidAnswers", {"text": reply.text}))
        return Said(text=reply.text, model=reply.model)

    key = cache_key(tool="paid_once", question=question, **call.services.models.identity())
    return await call.once(key, Said, produce, content_id=question)


@tool(effects=READ_ONLY | CALLS_OUT, long=True)
async def paid_loop(call: Call, question: str) -> Said:
    """Let a model look things up, and listen to it, once."""

    async def produce(shared: Call) -> Said:
        said: list[Part] = [Text(question)]
        history: list[Turn] = []
        while True:
            stream = shared.services.models.stream(said, history=history, tools=[LOOK_UP])
            replies = [piece.reply async for piece in stream]
            reply = replies[-1]
            assert reply is not None
            if not reply.calls:
                shared.record(Record("PaidAnswers", {"text": reply.text}))
                return Said(text=reply.text, model=reply.model)
            history += [Turn("user", tuple(said)), reply.turn]
            results = [ToolResult(each.id, "found") for each in reply.calls]
            said = [*results, Text("Go on.")]

    key = cache_key(tool="paid_loop", question=question, **call.services.models.identity())
    return await call.once(key, Said, produce)


@tool(effects=READ_ONLY | CALLS_OUT, long=True)
async def paid_batch(
    call: Call,
    name: str,
    items: Annotated[int, Field(ge=1, le=200)] = 50,
    at_once: Annotated[int, Field(ge=1, le=50)] = 4,
) -> Batch:
    """Ask a model many things."""
    limit = asyncio.Semaphore(at_once)
    done = 0

    async def one(index: int) -> str:
        nonlocal done
        async with limit:
            reply = await call.services.models.generate(f"{name} item {index}")
        done += 1
        call.progress(done, items, f"{done} of {items}")
        return reply.text

    texts = await asyncio.gather(*(one(index) for index in range(items)))
    call.record(*(Record("PaidAnswers", {"text": text}) for text in texts))
    return Batch(texts=list(texts))


@tool(effects=READ_ONLY | CALLS_OUT, long=True)
async def paid_research(call: Call, question: str) -> Said:
    """Let an agent find something out."""
    reply = await call.services.gemini.deep_research(question)
    return Said(text=reply.text, model=reply.model)


@hookimpl
def vr_tools() -> list[Any]:
    """The tools."""
    return [
        paid_ask,
        paid_shape,
        paid_custom,
        paid_manner,
        paid_stream,
        paid_once,
        paid_loop,
        paid_batch,
        paid_research,
    ]


@hookimpl
def vr_record_kinds() -> list[RecordKind]:
    """The kind of records that hold their answers."""
    return [ANSWERS]
