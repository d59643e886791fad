"""One whole answer: from the first model of a role that gives it, in the shape it must have."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from vr_kernel.artifacts import Artifacts
from vr_kernel.candidates import Candidate
from vr_kernel.errors import Code, VrError
from vr_kernel.generation import Reply, ReplyPiece, Request, Text, Turn, Usage
from vr_kernel.log import Log
from vr_kernel.metering import Payments, media_seconds
from vr_kernel.retry import DEADLINE_EXCEEDED, Retrier
from vr_kernel.structured import MisfitError

T = TypeVar("T")
V = TypeVar("V")
_OTHERS_MAY_ANSWER = frozenset(
    {Code.UNAVAILABLE, Code.QUOTA, Code.AUTH, Code.NOT_FOUND, Code.UNSUPPORTED}
)
"""Errors after which the next model of a role is asked."""
_REPAIR = """\
This JSON does not fit its schema. Give it again, corrected, and nothing else.
What is wrong: {problem}

{text}"""


class Shape(Protocol[V]):
    """A form that an answer must have."""

    schema: dict[str, Any]

    def read(self, text: str) -> V:
        """The value in a reply; MisfitError when there is none."""

    def dump(self, value: V) -> Any:
        """The value as JSON."""

    def load(self, data: Any) -> V:
        """The value of `dump`."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Asks the candidates of a role, with retries, and keeps what does not fit as a file."""

    retrier: Retrier
    payments: Payments
    artifacts: Artifacts
    log: Log

    async def ask(self, candidates: Sequence[Candidate], request: Request) -> Reply:
        """The answer of the first candidate that gives one.

        Raises:
            VrError: of the last candidate that was asked.
        """
        reply, failures = await self._first_of(candidates, partial(self._answer, request))
        return reply.model_copy(update={"notes": [*failures, *reply.notes]})

    async def stream(
        self, candidates: Sequence[Candidate], request: Request, deadline_s: float
    ) -> AsyncGenerator[ReplyPiece]:
        """The pieces of the first candidate that begins to answer, within `deadline_s`.

        Raises:
            VrError: of the last candidate that was asked, or of the one that broke off.
        """
        async with self.payments.room:
            end = asyncio.get_running_loop().time() + deadline_s
            begun, failures = await self._first_of(candidates, partial(self._begin, request))
            async with aclosing(begun.pieces):
                with self.payments.watched(begun.row):
                    piece = begun.first
                    while piece.reply is None:
                        yield piece
                        piece = await begun.next(end)
                reply = piece.reply
                self.payments.paid(begun.row, begun.candidate, reply)
                changes = {"notes": [*failures, *reply.notes], "model": begun.named(reply)}
                yield ReplyPiece(reply=reply.model_copy(update=changes))

    async def fitting(
        self, candidates: Sequence[Candidate], request: Request, shape: Shape[V]
    ) -> tuple[V, Reply]:
        """The value of an answer, which may be corrected once.

        The correction is asked of the text alone: what was watched need not be paid twice.

        Raises:
            VrError: UNAVAILABLE, category REPLY_INVALID, when the second one does not fit.
        """
        reply = await self.ask(candidates, request)
        try:
            return shape.read(reply.text), reply
        except MisfitError as misfit:
            said = _REPAIR.format(problem=misfit, text=reply.text)
        again = replace(
            request,
            turns=(Turn("user", (Text(said),)),),
            cached_content="",
            search=False,
            url_context=False,
        )
        second = await self._corrected(candidates, again, reply)
        whole = second.model_copy(
            update={
                "usage": reply.usage + second.usage,
                "sources": reply.sources,
                "notes": list(dict.fromkeys([*reply.notes, *second.notes])),
            }
        )
        try:
            return shape.read(second.text), whole
        except MisfitError as misfit:
            error = _invalid(whole, misfit)
        await self._keep(error)
        raise error

    async def _corrected(
        self, candidates: Sequence[Candidate], again: Request, first: Reply
    ) -> Reply:
        """The second answer; where there is none, the first one was paid for and is kept."""
        try:
            return await self.ask(candidates, again)
        except VrError as error:
            error.usage = first.usage + (error.usage or Usage())
            if not error.detail:
                error.detail = first.text
                await self._keep(error)
            raise

    async def _first_of(
        self, candidates: Sequence[Candidate], ask: Callable[[Candidate], Awaitable[T]]
    ) -> tuple[T, list[str]]:
        """What the first candidate gives that gives something, and why the others did not."""
        failures: list[str] = []
        for candidate in candidates:
            try:
                return await ask(candidate), failures
            except VrError as error:
                if candidate is candidates[-1] or error.code not in _OTHERS_MAY_ANSWER:
                    await self._keep(error)
                    raise
                failures.append(f"{candidate.name} did not answer: {error.message}")
                self.log.warning("model did not answer", model=candidate.name, code=error.code)
        raise AssertionError("a role has at least one candidate")

    async def _begin(self, request: Request, candidate: Candidate) -> _Begun:
        async def attempt(number: int) -> _Begun:
            row = await self.payments.begin(candidate, "stream", number, media_seconds(request))
            pieces = candidate.provider.stream(candidate.model, request)
            with self.payments.watched(row):
                return _Begun(candidate, row, pieces, await anext(aiter(pieces)))

        return await self.retrier.run(candidate.name, attempt)

    async def _answer(self, request: Request, candidate: Candidate) -> Reply:
        async def attempt(number: int) -> Reply:
            return await self.payments.attempt(
                candidate,
                "generate",
                number,
                lambda: candidate.provider.generate(candidate.model, request),
                media_seconds(request),
            )

        async with self.payments.room:
            reply = await self.retrier.run(candidate.name, attempt)
        return reply.model_copy(update={"model": f"{candidate.provider.name}/{reply.model}"})

    async def _keep(self, error: VrError) -> None:
        """Let the error say where the text is that was paid for."""
        if not error.detail:
            return
        try:
            text = error.detail.encode("utf-8", "replace")
            kept = await asyncio.to_thread(self.artifacts.add, text, "text/plain")
        except VrError as failure:
            self.log.warning("paid text was not kept", reason=failure.message)
        else:
            error.hint = f"{error.hint} What was received is kept as {kept.uri}.".strip()


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


def _invalid(reply: Reply, misfit: MisfitError) -> VrError:
    return VrError(
        f"The answer of {reply.model} does not fit its schema: {misfit}.",
        Code.UNAVAILABLE,
        category="REPLY_INVALID",
        hint="Ask again, ask for less, or choose another model.",
        usage=reply.usage,
        detail=reply.text,
    )
