"""One whole answer, or a stream of its pieces, from the first model of a role that answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from vr_kernel.errors import Code, VrError
from vr_kernel.files.artifacts import Artifacts
from vr_kernel.generation import Reply, ReplyPiece, Request
from vr_kernel.jobs.scopes import Scope
from vr_kernel.log import Log
from vr_kernel.models.circuit import CIRCUIT_OPEN, NOT_ASKED
from vr_kernel.models.recorder import PaidRequest, UsageRecorder, media_seconds
from vr_kernel.models.retry import DEADLINE_EXCEEDED, Retrier
from vr_kernel.models.roles import ProvidedModel
from vr_kernel.storage.cache import cache_key
from vr_kernel.text.visible_text import VisiblePieces, visible, visible_json

T = TypeVar("T")
_OTHERS_MAY_ANSWER = frozenset(
    {Code.UNAVAILABLE, Code.QUOTA, Code.AUTH, Code.NOT_FOUND, Code.UNSUPPORTED}
)
"""Errors after which the next model of a role is asked."""
_NONE_CAN = NOT_ASKED - {CIRCUIT_OPEN}
"""Categories of those errors that are not about the model."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A whole answer, and the step under which it is kept, if any."""

    reply: Reply
    step: str


@dataclass(frozen=True, slots=True)
class Answers:
    """Asks the models of a role, with retries, and keeps answers that do not fit as files.

    Within a scope each whole answer is a step of it.
    """

    retrier: Retrier
    recorder: UsageRecorder
    artifacts: Artifacts
    log: Log
    scope: Scope | None = None

    async def ask(self, models: Sequence[ProvidedModel], request: Request) -> ModelAnswer:
        """Return the answer of the first model that gives one, now or before a crash.

        Raises:
            VrError: of the last model that was asked; CONFLICT, category LEASE_LOST, when
                another process took the work over.
        """
        attempts = partial(self._generate, request)
        if self.scope is None:
            return ModelAnswer(_whole(await self._first_of(models, attempts), request), "")
        paid = False

        async def pay() -> Any:
            nonlocal paid
            paid = True
            reply = _whole(await self._first_of(models, attempts), request)
            return {"reply": reply.model_dump(mode="json")}

        names = [model.name for model in models]
        step = self.scope.next_step(cache_key(models=names, **request.identity))
        found = await self.scope.commit(step, pay)
        reply = _visible(Reply.model_validate(found["reply"]), request)
        if not paid:  # count what an earlier run of this work paid
            self.recorder.meter.add(reply.usage, reply.model)
        return ModelAnswer(reply, step)

    async def drop(self, *answers: ModelAnswer) -> None:
        """Forget the steps of these answers, so that the same question is asked again."""
        if self.scope is not None:
            await self.scope.drop(*(answer.step for answer in answers))

    async def keep(self, error: VrError) -> None:
        """Keep the text that was paid for as an artifact, and name it in the error."""
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
        self, models: Sequence[ProvidedModel], request: Request, deadline_s: float
    ) -> AsyncGenerator[ReplyPiece]:
        """The pieces of the first model that begins to answer, within `deadline_s`.

        Raises:
            VrError: of the last model that was asked, or of the one that broke off.
        """
        end = asyncio.get_running_loop().time() + deadline_s
        with closing(_StreamRoom(self.recorder.room)) as room:
            found = await self._first_of(models, partial(self._begin, request), room)
            begun = found.value
            seen = VisiblePieces()
            async with aclosing(begun.pieces):
                with self.recorder.watched(begun.row):
                    piece = begun.first
                    while piece.reply is None:
                        if text := seen.take(piece.text):
                            yield ReplyPiece(text=text)
                        piece = await begun.next(end)
                reply = _visible(piece.reply, request)
                self.recorder.paid(begun.row, found.model, reply)
                if text := seen.rest():
                    yield ReplyPiece(text=text)
                yield ReplyPiece(reply=found.complete(reply))

    async def _first_of(
        self,
        models: Sequence[ProvidedModel],
        attempts: Callable[[ProvidedModel], Callable[[int], Awaitable[T]]],
        room: AbstractAsyncContextManager[None] | None = None,
    ) -> _Found[T]:
        """Ask one model after the other until one answers.

        Args:
            models: best first.
            attempts: returns, for a model, the function that makes an attempt by its number.
            room: held during each attempt, instead of the recorder's.
        """
        failures: list[str] = []
        for model in models:
            try:
                with model.contained():
                    value = await self.retrier.run(
                        model.name, attempts(model), room=room or self.recorder.room
                    )
                return _Found(value, model, failures)
            except VrError as error:
                others = error.code in _OTHERS_MAY_ANSWER and error.category not in _NONE_CAN
                if model is models[-1] or not others:
                    await self.keep(error)
                    raise
                failures.append(f"{model.name} did not answer: {error.message}")
                self.log.warning("model did not answer", model=model.name, code=error.code)
        raise AssertionError("a role has at least one model")

    def _generate(
        self, request: Request, model: ProvidedModel
    ) -> Callable[[int], Awaitable[Reply]]:
        paid = PaidRequest(
            model,
            "generate",
            lambda: model.provider.generate(model.id, request),
            media_seconds(request),
        )
        return partial(self.recorder.attempt, paid)

    def _begin(self, request: Request, model: ProvidedModel) -> Callable[[int], Awaitable[_Begun]]:
        paid = PaidRequest(
            model,
            "stream",
            lambda: model.provider.stream(model.id, request),
            media_seconds(request),
        )

        async def attempt(number: int) -> _Begun:
            row = await self.recorder.begin(paid, number)
            pieces = paid.send()
            with self.recorder.watched(row):
                return _Begun(model.name, row, pieces, await anext(aiter(pieces)))

        return attempt


def _visible(reply: Reply, request: Request) -> Reply:
    """The reply with hidden characters made visible: it may repeat the text of others."""
    shown = visible if request.schema is None else visible_json
    sources = [
        source.model_copy(update={"title": visible(source.title), "url": visible(source.url)})
        for source in reply.sources
    ]
    notes = list(map(visible, reply.notes))
    changes = {"text": shown(reply.text), "sources": sources, "notes": notes}
    return reply.model_copy(update={**changes, "model": visible(reply.model)})


@dataclass(frozen=True, slots=True)
class _Found(Generic[T]):
    """The value of the first model that gave one, and why earlier ones failed."""

    value: T
    model: ProvidedModel
    failures: list[str]

    def complete(self, reply: Reply) -> Reply:
        """The reply with the full name of its model, and with the failures of others."""
        named = f"{self.model.provider.name}/{reply.model}"
        return reply.model_copy(update={"model": named, "notes": [*self.failures, *reply.notes]})


def _whole(found: _Found[Reply], request: Request) -> Reply:
    return _visible(found.complete(found.value), request)


class _StreamRoom:
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
        if self._held:
            self._held = False
            self._room.release()


@dataclass(frozen=True, slots=True)
class _Begun:
    """A stream whose first piece has arrived."""

    model: str
    row: int
    pieces: Any
    first: ReplyPiece

    async def next(self, end: float) -> ReplyPiece:
        """The next piece, if it arrives before that time of the event loop."""
        try:
            async with asyncio.timeout_at(end):
                piece: ReplyPiece = await anext(self.pieces)
        except TimeoutError:
            raise VrError(
                f"{self.model} did not come to an end in time.",
                Code.UNAVAILABLE,
                category=DEADLINE_EXCEEDED,
                hint="Ask for less at once, or raise the setting [models] deadline_s.",
                retryable=True,
            ) from None
        return piece
