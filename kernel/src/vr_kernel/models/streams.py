"""Streams of answers: their place among other requests, their time, and their commit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vr_kernel.errors import Code, VrError
from vr_kernel.generation import Reply, ReplyPiece
from vr_kernel.jobs.completion import settle
from vr_kernel.models.retry import DEADLINE_EXCEEDED

if TYPE_CHECKING:
    from vr_kernel.models.answers import ModelAnswer
    from vr_kernel.models.provided import ProvidedModel
    from vr_kernel.spending.paid_requests import Allowance

CLOSE_S = 5.0
"""Seconds that a provider may take to close a stream."""


class StreamRoom:
    """Room for a stream: released when an attempt fails, else when the stream is closed."""

    def __init__(self, room: asyncio.Semaphore) -> None:
        self._room = room
        self._held = False

    async def __aenter__(self) -> None:
        await self._room.acquire()
        self._held = True

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.close()

    def close(self) -> None:
        """Release it."""
        if self._held:
            self._held = False
            self._room.release()


@dataclass(frozen=True, slots=True)
class BegunStream:
    """A stream whose first piece has arrived."""

    model: ProvidedModel
    allowed: Allowance
    pieces: Any
    first: ReplyPiece

    async def next(self, end: float) -> ReplyPiece:
        """The next piece, if it arrives before that time of the event loop."""
        with self.model.contained():
            try:
                async with asyncio.timeout_at(end):
                    return await next_piece(self.pieces)
            except TimeoutError:
                raise VrError(
                    f"{self.model.name} did not come to an end in time.",
                    Code.UNAVAILABLE,
                    category=DEADLINE_EXCEEDED,
                    hint="Ask for less at once, or raise the setting [models] deadline_s.",
                    retryable=True,
                ) from None

    async def aclose(self) -> None:
        """Close the provider's stream; a failure of that is logged, and harms no answer."""
        with suppress(VrError), self.model.contained():
            async with asyncio.timeout(CLOSE_S):
                await self.pieces.aclose()


async def next_piece(pieces: Any) -> ReplyPiece:
    """The next piece of a provider's stream.

    Raises:
        TypeError: for anything else than a piece, and for an end without the whole reply.
    """
    piece = await anext(pieces, None)
    if not isinstance(piece, ReplyPiece):
        raise TypeError(f"a stream gave {type(piece).__name__} before its reply")
    return piece


async def one_piece(whole: Awaitable[Reply]) -> AsyncGenerator[ReplyPiece]:
    """A whole answer as a stream that has nothing but its last piece."""
    yield ReplyPiece(reply=await whole)


async def committed_stream(
    pieces: AsyncGenerator[ReplyPiece],
    commit: Callable[[Callable[[], Awaitable[Reply]]], Awaitable[ModelAnswer]],
) -> AsyncIterator[ReplyPiece | ModelAnswer]:
    """The pieces of a stream as they arrive, then the answer that was committed.

    Only the answer when it was committed before; `pieces` are not begun then.

    Args:
        pieces: the stream; the last one has the whole reply.
        commit: returns the committed answer, which it pays for by its argument when there is none.
    """
    arrived: asyncio.Queue[ReplyPiece | None] = asyncio.Queue()

    async def pay() -> Reply:
        async with aclosing(pieces):
            async for piece in pieces:
                if piece.reply is not None:
                    return piece.reply
                arrived.put_nowait(piece)
        raise AssertionError("a stream ends with a reply, or raises")

    async def work() -> ModelAnswer:
        try:
            return await commit(pay)
        finally:
            arrived.put_nowait(None)

    working = asyncio.ensure_future(work())
    left = True
    try:
        while (piece := await arrived.get()) is not None:
            yield piece
        left = False
    finally:  # Whoever leaves early ends the request, but a reply that is there is committed.
        if left:
            working.cancel()
        cancelled = await settle(working, pass_on=True)
        if left and not working.cancelled():
            working.exception()  # retrieved, as nobody is left to be told
    if cancelled is not None:
        raise cancelled
    yield working.result()
