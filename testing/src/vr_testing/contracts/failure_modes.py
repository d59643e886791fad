"""The failures of model providers: a part of their contract."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar

import pytest
from vr_kernel.errors import VrError
from vr_kernel.generation import Part, Request, Text, Turn
from vr_kernel.models.provider import ModelProvider

from vr_testing.contracts.model_wire import FAILURES, ModelWire, Trouble
from vr_testing.contracts.outcomes import chain, drained, failure, first_piece

SECRET = "key-that-nobody-may-see"  # noqa: S105 - a made-up one, looked for in errors
RETRY_AFTER_S = 7.0
BROKEN_STREAMS: tuple[Trouble, ...] = ("stream_closed", "stream_reset", "stream_unfinished")
SAID = "The cat sat on the mat, and then it went out to look for the moon."


class FailureModeContract(ABC):
    """The tests of the errors of a provider; `ModelProviderContract` has them too."""

    model: ClassVar[str] = "model"
    """A model that the provider knows."""

    @abstractmethod
    def opened(self) -> AbstractAsyncContextManager[tuple[ModelProvider, ModelWire]]:
        """A provider whose only key is `SECRET`, and the fake service behind it."""

    def request(self, *parts: Part | str, **how: Any) -> Request:
        """A request with one turn."""
        said = tuple(Text(part) if isinstance(part, str) else part for part in parts)
        return Request((Turn("user", said or (Text("Tell me a story."),)),), **how)

    @pytest.mark.parametrize("trouble", [*BROKEN_STREAMS, "bad_request", "throttled", "overloaded"])
    async def test_failure_of_a_stream(self, trouble: Trouble) -> None:
        """A stream raises what `generate` raises; REPLY_TRUNCATED when it ends too early."""
        await self._check_stream_failure(trouble)

    async def test_stream_that_is_left_closes_its_connection(self) -> None:
        """Nothing more is generated for a caller that closed the stream."""
        async with self.opened() as (provider, wire):
            wire.answer(SAID)
            wire.trickle()
            await first_piece(provider.stream(self.model, self.request()))
            await asyncio.to_thread(wire.wait, lambda: wire.cancelled == 1)

    @pytest.mark.parametrize("trouble", [each for each in FAILURES if each not in BROKEN_STREAMS])
    async def test_failure_of_a_request(self, trouble: Trouble) -> None:
        """Each trouble raises its error of `FAILURES`; a truncated reply has its text so far."""
        error = await self.check_failure(trouble)
        if error is not None and trouble == "max_tokens":
            assert error.detail
            assert SAID.startswith(error.detail)

    @pytest.mark.parametrize("trouble", ["throttled", "throttled_in_body"])
    async def test_wait_that_the_service_asks_for(self, trouble: Trouble) -> None:
        """The seconds of the header `Retry-After`, or of the body, stand in the error."""
        error = await self.check_failure(trouble, retry_after=RETRY_AFTER_S)
        assert error is None or _is_about(error.retry_after, RETRY_AFTER_S)

    async def test_no_wait_is_invented(self) -> None:
        """An error has no waiting time unless the service gave one."""
        error = await self.check_failure("throttled")
        assert error is None or error.retry_after is None

    async def test_cancellation_closes_the_connection(self) -> None:
        """A cancelled call closes its connection at once and sends nothing more."""
        async with self.opened() as (provider, wire):
            with wire.hold():
                asking = asyncio.create_task(provider.generate(self.model, self.request()))
                await asyncio.to_thread(wire.wait, lambda: wire.attempts == wire.in_flight == 1)
                asking.cancel()
                await asyncio.wait({asking})
                assert asking.cancelled()
                await asyncio.to_thread(wire.wait, lambda: wire.cancelled == 1)
            assert wire.attempts == 1

    async def check_failure(
        self, trouble: Trouble, *, retry_after: float | None = None
    ) -> VrError | None:
        """Check that a trouble gives its error after one attempt, without the key in it."""
        async with self.opened() as (provider, wire):
            if trouble not in wire.troubles:
                return None
            wire.answer(SAID)
            wire.trouble(trouble, retry_after=retry_after)
            error = await failure(provider.generate(self.model, self.request()))
            self._check(error, trouble, wire)
            return error

    async def _check_stream_failure(self, trouble: Trouble) -> None:
        async with self.opened() as (provider, wire):
            if trouble in wire.troubles:
                wire.answer(SAID)
                wire.trouble(trouble)
                error = await failure(drained(provider.stream(self.model, self.request())))
                self._check(error, trouble, wire)

    def _check(self, error: VrError, trouble: Trouble, wire: ModelWire) -> None:
        expected = FAILURES[trouble]
        found = (error.code, error.retryable)
        assert found == (expected.code, expected.retryable), (trouble, found, error.message)
        assert expected.category in {"", error.category}, (trouble, error.category)
        assert wire.attempts == 1, f"{trouble}: {wire.attempts} attempts"
        if expected.paid:
            assert error.usage == wire.bill, (trouble, error.usage)
        shown = [str(each) for each in chain(error)]
        told = json.dumps([error.as_dict("call"), error.detail, *shown])
        assert SECRET not in told, f"{trouble}: the key stands in the error"


def _is_about(seconds: float | None, told: float) -> bool:
    """Check for the time that the service gave, or the rest of it a moment later."""
    return seconds is not None and told - 1 <= seconds <= told
