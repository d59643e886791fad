"""One whole answer, or a stream of its pieces: from the first model of a role that gives it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from vr_kernel.errors import Code, VrError
from vr_kernel.files.artifacts import Artifacts
from vr_kernel.generation import Reply, ReplyPiece, Request
from vr_kernel.jobs.scopes import Scope
from vr_kernel.log import Log
from vr_kernel.models.circuit import CIRCUIT_OPEN, NOT_ASKED
from vr_kernel.models.metering import Payments, media_seconds
from vr_kernel.models.retry import DEADLINE_EXCEEDED, Retrier
from vr_kernel.models.roles import Candidate
from vr_kernel.storage.cache import cache_key
from vr_kernel.text.visible_text import VisiblePieces, visible, visible_json

T = TypeVar("T")
_OTHERS_MAY_ANSWER = frozenset(
    {Code.UNAVAILABLE, Code.QUOTA, Code.AUTH, Code.NOT_FOUND, Code.UNSUPPORTED}
)
"""Errors after which the next model of a role is asked."""
_NONE_CAN = NOT_ASKED - {CIRCUIT_OPEN}
"""Categories of those errors that say nothing of the model."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer, and the step that it is kept as, if any."""

    reply: Reply
    step: str


@dataclass(frozen=True, slots=True)
class Answers:
    """Asks the candidates of a role, with retries, and keeps what does not fit as a file.

    Within a scope each whole answer is a step of it.
    """

    retrier: Retrier
    payments: Payments
    artifacts: Artifacts
    log: Log
    scope: Scope | None = None

    async def ask(self, candidates: Sequence[Candidate], request: Request) -> Answer:
        """The answer of the first candidate that gives one, now or before a crash.

        Raises:
            VrError: of the last candidate that was asked; CONFLICT, category LEASE_LOST, when
                another process took the work over.
        """
        paid = False

        async def pay() -> Any:
            nonlocal paid
            paid = True
            reply, failures = await self._first_of(candidates, partial(self._answer, request))
            noted = reply.model_copy(update={"notes": [*failures, *reply.notes]})
            return {"reply": noted.model_dump(mode="json")}

        if self.scope is None:
            step, found = "", await pay()
        else:
            names = [candidate.name for candidate in candidates]
            step = self.scope.next_step(cache_key(models=names, **request.identity))
            found = await self.scope.commit(step, pay)
        reply = _visible(Reply.model_validate(found["reply"]), request)
        if not paid:  # the result costs what an earlier run of this work paid
            self.payments.meter.add(reply.usage, reply.model)
        return Answer(reply, step)

    async def drop(self, *answers: Answer) -> None:
        """Let who asks the same again get other answers."""
        if self.scope is not None:
            await self.scope.drop(*(answer.step for answer in answers))

    async def keep(self, error: VrError) -> None:
        """Let the error say where the text is that was paid for."""
        if not error.detail:
            return
        try:
            text = visible(error.detail).encode("utf-8", "replace")
            kept = await asyncio.to_thread(self.artifacts.add, text, "text/plain")
        except VrError as failure:
            self.log.warning("paid text was not kept", reason=failure.message)
        else:
            error.hint = f"{error.hint} What was received is kept as {kept.uri}.".strip()

    async def stream(
        self, candidates: Sequence[Candidate], request: Request, deadline_s: float
    ) -> AsyncGenerator[ReplyPiece]:
        """The pieces of the first candidate that begins to answer, within `deadline_s`.

        Raises:
            VrError: of the last candidate that was asked, or of the one that broke off.
        """
        end = asyncio.get_running_loop().time() + deadline_s
        with closing(_Place(self.payments.room)) as place:
            begin = partial(self._begin, request, place)
            begun, failures = await self._first_of(candidates, begin)
            seen = VisiblePieces()
            async with aclosing(begun.pieces):
                with self.payments.watched(begun.row):
                    piece = begun.first
                    while piece.reply is None:
                        if text := seen.take(piece.text):
                            yield ReplyPiece(text=text)
                        piece = await begun.next(end)
                reply = _visible(piece.reply, request)
                self.payments.paid(begun.row, begun.candidate, reply)
                if text := seen.rest():
                    yield ReplyPiece(text=text)
                changes = {"notes": [*failures, *reply.notes], "model": begun.named(reply)}
                yield ReplyPiece(reply=reply.model_copy(update=changes))

    async def _first_of(
        self, candidates: Sequence[Candidate], ask: Callable[[Candidate], Awaitable[T]]
    ) -> tuple[T, list[str]]:
        """What the first candidate gives that gives something, and why the others did not."""
        failures: list[str] = []
        for candidate in candidates:
            try:
                return await ask(candidate), failures
            except VrError as error:
                others = error.code in _OTHERS_MAY_ANSWER and error.category not in _NONE_CAN
                if candidate is candidates[-1] or not others:
                    await self.keep(error)
                    raise
                failures.append(f"{candidate.name} did not answer: {error.message}")
                self.log.warning("model did not answer", model=candidate.name, code=error.code)
        raise AssertionError("a role has at least one candidate")

    async def _begin(self, request: Request, place: _Place, candidate: Candidate) -> _Begun:
        async def attempt(number: int) -> _Begun:
            row = await self.payments.begin(candidate, "stream", number, media_seconds(request))
            pieces = candidate.provider.stream(candidate.model, request)
            with self.payments.watched(row):
                return _Begun(candidate, row, pieces, await anext(aiter(pieces)))

        with candidate.contained():
            return await self.retrier.run(candidate.name, attempt, room=place)

    async def _answer(self, request: Request, candidate: Candidate) -> Reply:
        async def attempt(number: int) -> Reply:
            return await self.payments.attempt(
                candidate,
                "generate",
                number,
                lambda: candidate.provider.generate(candidate.model, request),
                media_seconds(request),
            )

        with candidate.contained():
            reply = await self.retrier.run(candidate.name, attempt, room=self.payments.room)
        named = reply.model_copy(update={"model": f"{candidate.provider.name}/{reply.model}"})
        return _visible(named, request)


def _visible(reply: Reply, request: Request) -> Reply:
    """The reply with texts that show all they have: others may have written what it repeats."""
    shown = visible if request.schema is None else visible_json
    sources = [
        source.model_copy(update={"title": visible(source.title), "url": visible(source.url)})
        for source in reply.sources
    ]
    notes = list(map(visible, reply.notes))
    changes = {"text": shown(reply.text), "sources": sources, "notes": notes}
    return reply.model_copy(update={**changes, "model": visible(reply.model)})


class _Place:
    """Room for a stream: left when an attempt fails, else kept until it is closed."""

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
        if self._held:
            self._held = False
            self._room.release()


@dataclass(frozen=True, slots=True)
class _Begun:
    """A stream whose first piece has come."""

    candidate: Candidate
    row: int
    pieces: Any
    first: ReplyPiece

    async def next(self, end: float) -> ReplyPiece:
        """The next piece, if it comes before that time of the event loop."""
        try:
            async with asyncio.timeout_at(end):
                piece: ReplyPiece = await anext(self.pieces)
        except TimeoutError:
            raise VrError(
                f"{self.candidate.name} did not come to an end in time.",
                Code.UNAVAILABLE,
                category=DEADLINE_EXCEEDED,
                hint="Ask for less at once, or raise the setting [models] deadline_s.",
                retryable=True,
            ) from None
        return piece

    def named(self, reply: Reply) -> str:
        return f"{self.candidate.provider.name}/{reply.model}"
