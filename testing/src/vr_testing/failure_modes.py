"""What every model provider keeps when something goes wrong; a part of its contract."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar

from vr_kernel.errors import VrError
from vr_kernel.generation import ModelProvider, Part, Request, Text, Turn

from vr_testing.outcomes import chain, drained, failure, first_piece
from vr_testing.wire import FAILURES, ModelWire, Trouble

SECRET = "key-that-nobody-may-see"  # noqa: S105 - a made-up one, looked for in errors
RETRY_AFTER_S = 7.0
SAID = "The cat sat on the mat, and then it went out to look for the moon."


class TroubleContract(ABC):
    """The tests of what a provider raises; `ModelProviderContract` has them too."""

    model: ClassVar[str] = "model"
    """One that the provider knows."""

    @abstractmethod
    def opened(self) -> AbstractAsyncContextManager[tuple[ModelProvider, ModelWire]]:
        """A provider whose only key is `SECRET`, and the fake service that it asks."""

    def request(self, *parts: Part | str, **how: Any) -> Request:
        """A request of one turn."""
        said = tuple(Text(part) if isinstance(part, str) else part for part in parts)
        return Request((Turn("user", said or (Text("Tell me a story."),)),), **how)

    async def test_stream_that_breaks_off_is_no_answer(self) -> None:
        """REPLY_TRUNCATED, however a stream ends before its answer does."""
        for trouble in ("stream_closed", "stream_reset", "stream_unfinished"):
            await self._check_stream_failure(trouble)

    async def test_errors_of_the_service_are_raised_by_a_stream_too(self) -> None:
        """A stream raises what `generate` raises."""
        for trouble in ("bad_request", "throttled", "overloaded"):
            await self._check_stream_failure(trouble)

    async def test_stream_that_is_left_closes_its_connection(self) -> None:
        """Nothing is generated for a caller that closed the stream."""
        async with self.opened() as (provider, wire):
            wire.answer(SAID)
            wire.trickle()
            await first_piece(provider.stream(self.model, self.request()))
            await asyncio.to_thread(wire.wait, lambda: wire.cancelled == 1)

    async def test_request_that_does_not_fit(self) -> None:
        """INVALID_INPUT, and no other attempt."""
        await self.check_failure("bad_request")

    async def test_bad_key(self) -> None:
        """AUTH."""
        await self.check_failure("bad_key")

    async def test_forbidden(self) -> None:
        """AUTH."""
        await self.check_failure("forbidden")

    async def test_unknown_model(self) -> None:
        """NOT_FOUND."""
        await self.check_failure("not_found")

    async def test_throttled(self) -> None:
        """QUOTA, with the seconds of the header `Retry-After`."""
        error = await self.check_failure("throttled", retry_after=RETRY_AFTER_S)
        assert error is None or _is_about(error.retry_after, RETRY_AFTER_S)

    async def test_throttled_with_the_wait_in_the_body(self) -> None:
        """QUOTA, with the seconds that the body tells."""
        error = await self.check_failure("throttled_in_body", retry_after=RETRY_AFTER_S)
        assert error is None or _is_about(error.retry_after, RETRY_AFTER_S)

    async def test_throttled_without_a_time(self) -> None:
        """QUOTA, and no invented time."""
        error = await self.check_failure("throttled")
        assert error is None or error.retry_after is None

    async def test_internal_error(self) -> None:
        """UNAVAILABLE, to be tried again."""
        await self.check_failure("internal")

    async def test_overloaded(self) -> None:
        """UNAVAILABLE, to be tried again."""
        await self.check_failure("overloaded")

    async def test_connection_reset(self) -> None:
        """UNAVAILABLE, to be tried again."""
        await self.check_failure("reset")

    async def test_answer_lost_on_the_way(self) -> None:
        """UNAVAILABLE, though it was paid for."""
        await self.check_failure("lost")

    async def test_answer_cut_off_on_the_way(self) -> None:
        """UNAVAILABLE, and no half answer."""
        await self.check_failure("cut_off")

    async def test_answer_that_is_no_json(self) -> None:
        """UNAVAILABLE, and no half answer."""
        await self.check_failure("garbled")

    async def test_prompt_blocked(self) -> None:
        """SAFETY_BLOCKED."""
        await self.check_failure("prompt_blocked")

    async def test_answer_blocked(self) -> None:
        """SAFETY_BLOCKED, with what it cost."""
        await self.check_failure("answer_blocked")

    async def test_limit_of_the_answer(self) -> None:
        """REPLY_CUT_OFF, with what was said so far and what it cost."""
        error = await self.check_failure("max_tokens")
        assert error is None or (error.detail and SAID.startswith(error.detail))

    async def test_cancellation_closes_the_connection(self) -> None:
        """A cancelled call hangs up at once, and asks nothing more."""
        async with self.opened() as (provider, wire):
            with wire.hold():
                asking = asyncio.create_task(provider.generate(self.model, self.request()))
                await asyncio.to_thread(wire.wait, lambda: wire.in_flight == 1)
                asking.cancel()
                await asyncio.wait({asking})
                assert asking.cancelled()
                await asyncio.to_thread(wire.wait, lambda: wire.cancelled == 1)
            assert wire.attempts == 1

    async def check_failure(
        self, trouble: Trouble, *, retry_after: float | None = None
    ) -> VrError | None:
        """One trouble gives the documented error, after one attempt, without the key in it."""
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
    """Whether it is what the service told, or what is left of that a moment later."""
    return seconds is not None and told - 1 <= seconds <= told
