"""The contract of model providers: tests that the tests of each provider inherit."""

from __future__ import annotations

import hashlib
import json
from typing import Any, ClassVar

from vr_kernel.errors import Code
from vr_kernel.generation import Media, Reply, Request, Text, Turn
from vr_kernel.generation.requests import THINKING_LEVELS
from vr_kernel.models.provider import ModelProvider

from vr_testing.contracts.failure_modes import SAID, SECRET
from vr_testing.contracts.outcomes import drained, failure, temporary_file
from vr_testing.contracts.tool_calls import ToolCallContract

__all__ = ["SAID", "SECRET", "ModelProviderContract"]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["title", "count"],
}
_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550"
    "000000a4944415478da6360000000020001e527defc0000000049454e44ae426082"
)
"""A black PNG picture of one pixel."""


class ModelProviderContract(ToolCallContract):
    """The tests of `vr_kernel.models.provider.ModelProvider`, for pytest with asyncio's auto mode.

    A provider's tests subclass it once, name the class `Test…` and write `opened`:

    ```python
    class TestGemini(ModelProviderContract):
        model = "gemini-3-flash"

        @asynccontextmanager
        async def opened(self) -> AsyncIterator[tuple[ModelProvider, ModelWire]]:
            with FakeGemini() as gemini:
                provider = ...                  # at gemini.url, with the key SECRET
                yield provider, GeminiWire(gemini)
                await provider.aclose()
    ```

    Every test opens a provider of its own and makes real requests to the fake service behind it.
    All that differs between protocols is in class attributes and in the `ModelWire`; the test of a
    trouble that the wire does not name in `troubles` passes. A test can be overridden where a
    provider has a reason to differ.
    """

    embedding_model: ClassVar[str] = "embedding-model"
    embeds: ClassVar[bool] = True
    """False for a provider that embeds nothing."""
    takes_images: ClassVar[bool] = True
    counts_tokens: ClassVar[bool] = True
    dimension: ClassVar[int] = 16
    """A vector length that the fake service can return."""
    refused_mime: ClassVar[str] = "application/zip"
    """A kind of file that no model of this provider reads."""

    async def test_text_is_asked_for_and_comes_back(self) -> None:
        """Text, model and key reach the wire; text and model come back."""
        async with self.opened() as (provider, wire):
            wire.answer(SAID)
            reply = await provider.generate(self.model, self.request("Tell me a story."))
            assert (reply.text, reply.model) == (SAID, self.model)
            (sent,) = wire.sent
            assert (sent.model, sent.key) == (self.model, SECRET)
            assert sent.turns == (("user", "Tell me a story."),)

    async def test_system_instruction_is_not_part_of_the_conversation(self) -> None:
        """The system instruction is sent apart from the turns."""
        async with self.opened() as (provider, wire):
            await provider.generate(self.model, self.request("Hello.", system="Be brief."))
            (sent,) = wire.sent
            assert (sent.system, sent.turns) == ("Be brief.", (("user", "Hello."),))

    async def test_turns_keep_their_order_and_speakers(self) -> None:
        """A conversation arrives unchanged."""
        said = (("user", "One?"), ("model", "Two."), ("user", "Three?"))
        async with self.opened() as (provider, wire):
            turns = (
                Turn("user", (Text("One?"),)),
                Turn("model", (Text("Two."),)),
                Turn("user", (Text("Three?"),)),
            )
            await provider.generate(self.model, Request(turns))
            assert wire.sent[0].turns == said

    async def test_schema_reaches_the_wire_and_json_comes_back(self) -> None:
        """The schema is sent; the answer is the JSON as the model wrote it."""
        value = {"title": "Mat", "count": 3}
        async with self.opened() as (provider, wire):
            wire.answer(json.dumps(value))
            reply = await provider.generate(self.model, self.request("List.", schema=SCHEMA))
            assert json.loads(reply.text) == value
            schema = wire.sent[0].schema
            assert schema is not None, "no schema was sent"
            assert set(schema["properties"]) == set(SCHEMA["properties"])

    async def test_thoughts_are_paid_for_but_never_shown(self) -> None:
        """Thinking is in the usage, and not in any text."""
        async with self.opened() as (provider, wire):
            wire.answer(SAID, thought="First I wonder what a cat is.")
            reply = await provider.generate(self.model, self.request())
            assert reply.text == SAID
            assert reply.usage.thinking_tokens == wire.bill.thinking_tokens > 0
            _, streamed = await drained(provider.stream(self.model, self.request()))
            assert streamed is not None
            assert streamed.text == SAID

    async def test_image_reaches_the_wire(self) -> None:
        """A file becomes a part of the question."""
        if not self.takes_images:
            return
        async with self.opened() as (provider, wire):
            await self._ask_of_file(provider, "image/png", _PIXEL)
            assert wire.sent[0].media == 1

    async def test_kind_of_file_that_nobody_reads_is_refused_before_it_is_sent(self) -> None:
        """It raises UNSUPPORTED, without a paid request."""
        async with self.opened() as (provider, wire):
            error = await failure(self._ask_of_file(provider, self.refused_mime, b"PK"))
            assert error.code is Code.UNSUPPORTED, error
            assert wire.attempts == 0

    async def test_usage_is_what_the_service_bills(self) -> None:
        """`usage` is one call, with the service's own counts."""
        async with self.opened() as (provider, wire):
            reply = await provider.generate(self.model, self.request())
            assert reply.usage == wire.bill
            assert reply.usage.calls == 1

    async def test_stream_joins_to_the_whole_reply_and_ends_with_its_usage(self) -> None:
        """Pieces join to the text; the last one has the whole reply."""
        async with self.opened() as (provider, wire):
            wire.answer(SAID)
            pieces, reply = await drained(provider.stream(self.model, self.request()))
            assert len(pieces) > 1, "the whole answer came in one piece"
            assert "".join(piece.text for piece in pieces) == SAID
            assert reply is not None, "the last piece has no reply"
            assert (reply.text, reply.model, reply.usage) == (SAID, self.model, wire.bill)

    async def test_embeddings_are_one_vector_an_item(self) -> None:
        """As many vectors as items, of the requested length, in one request."""
        if not self.embeds:
            return
        items = ["a cat on a mat", "the moon", "a third thing"]
        async with self.opened() as (provider, wire):
            found = await provider.embed(self.embedding_model, items, "document", self.dimension)
            assert [len(vector) for vector in found.vectors] == [self.dimension] * len(items)
            assert len({tuple(vector) for vector in found.vectors}) == len(items)
            assert found.model == self.embedding_model
            assert wire.attempts == found.usage.calls == 1

    async def test_tokens_are_counted_without_paying(self) -> None:
        """Counting costs nothing, and a longer request counts more."""
        if not self.counts_tokens:
            return
        async with self.opened() as (provider, wire):
            short = await provider.count_tokens(self.model, self.request("Hello."))
            long = await provider.count_tokens(self.model, self.request("Hello. " * 100))
            assert 0 < short < long
            assert wire.bill.calls == 0

    async def test_models_it_names_are_models_it_knows(self) -> None:
        """`model_for` names one of `models`, which lists each once."""
        async with self.opened() as (provider, _wire):
            provider.check()
            known = {info.name: info for info in provider.models()}
            assert len(known) == len(provider.models()), "a model is named twice"
            assert provider.model_for("default") in known
            for info in known.values():
                assert set(info.thinking) <= set(THINKING_LEVELS)
                assert info.context >= 0
                assert "text" in info.accepts

    async def _ask_of_file(self, provider: ModelProvider, mime: str, content: bytes) -> Reply:
        with temporary_file(content) as file:
            media = Media(mime, file=file, digest=hashlib.sha256(content).hexdigest())
            return await provider.generate(self.model, self.request(media, "What is it?"))
