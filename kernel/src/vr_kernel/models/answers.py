"""One whole answer, or a stream of its pieces, from the first model of a role that answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from vr_kernel.errors import VrError
from vr_kernel.files.artifacts import Artifacts
from vr_kernel.generation import Reply, ReplyPiece, Request
from vr_kernel.jobs.scopes import Scope
from vr_kernel.log import Log
from vr_kernel.models.fallback import may_others_answer
from vr_kernel.models.provided import ProvidedModel
from vr_kernel.models.recorder import UsageRecorder
from vr_kernel.models.retry import Retrier
from vr_kernel.models.tool_calls import asked_model, marked, with_calls_settled, with_own_state
from vr_kernel.spending.paid_requests import Allowance, PaidRequest
from vr_kernel.state.cache import cache_key
from vr_kernel.text.visible_text import VisiblePieces, visible, visible_json

if TYPE_CHECKING:
    from vr_kernel.models.streams import BegunStream

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A whole answer, and the step under which it is kept, if any."""

    reply: Reply
    step: str


@dataclass(frozen=True, slots=True)
class Answers:
    """Asks the models of a role, with retries, and keeps answers that do not fit as files.

    Within a scope each answer is a step of it.
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

        async def pay() -> Reply:
            found = await self._first_of(models, partial(self._generate, request))
            return _whole(found, found.value, request)

        return await self._with_calls(await self._committed(models, request, pay), models, request)

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

        Within a scope the whole answer is committed before its last piece is handed on. One that is
        found there comes in one piece, as does one of a model without tools that was offered some.

        Raises:
            VrError: of the last model that was asked, or of the one that broke off.
        """
        from vr_kernel.models.streams import committed_stream

        arriving: Any = self._pieces(models, request, deadline_s)
        if self.scope is not None:
            arriving = committed_stream(arriving, partial(self._committed, models, request))
        said = False
        async with aclosing(arriving):
            async for piece in arriving:
                if isinstance(piece, ReplyPiece) and piece.reply is None:
                    said = True
                    yield piece
                    continue
                answer = piece if isinstance(piece, ModelAnswer) else ModelAnswer(piece.reply, "")
                reply = (await self._with_calls(answer, models, request)).reply
                if reply.text and not said:
                    yield ReplyPiece(text=reply.text)
                yield ReplyPiece(reply=reply)

    async def _committed(
        self,
        models: Sequence[ProvidedModel],
        request: Request,
        pay: Callable[[], Awaitable[Reply]],
    ) -> ModelAnswer:
        """The answer that `pay` gets, as a step of the scope; found there when it was paid for."""
        if self.scope is None:
            return ModelAnswer(await pay(), "")
        paid = False

        async def paying() -> Any:
            nonlocal paid
            paid = True
            return {"reply": (await pay()).model_dump(mode="json")}

        names = [model.name for model in models]
        step = self.scope.next_step(cache_key(models=names, **request.identity))
        found = await self.scope.commit(step, paying)
        reply = _visible(Reply.model_validate(found["reply"]), request)
        if not paid:  # count what an earlier run of this work paid
            self.recorder.meter.add(reply.usage, reply.model)
        return ModelAnswer(reply, step)

    async def _with_calls(
        self, answer: ModelAnswer, models: Sequence[ProvidedModel], request: Request
    ) -> ModelAnswer:
        """The answer as it is, or with the calls in its text when its model has no tools."""
        asked = asked_model(answer.reply) if request.tools else ""
        model = next((model for model in models if model.name == asked), None)
        if model is None or model.known().tools:
            return answer
        from vr_kernel.models.tools_by_schema import read_calls

        return replace(answer, reply=await read_calls(self, answer, model, request))

    async def _pieces(
        self, models: Sequence[ProvidedModel], request: Request, deadline_s: float
    ) -> AsyncGenerator[ReplyPiece]:
        """The pieces of the first model that begins to answer; the last one has the reply."""
        from vr_kernel.models.streams import StreamRoom

        end = asyncio.get_running_loop().time() + deadline_s
        with closing(StreamRoom(self.recorder.room)) as room:
            found = await self._first_of(models, partial(self._begin, request), room)
            begun = found.value
            seen = VisiblePieces()
            async with aclosing(begun):
                with self.recorder.watched(begun.allowed, found.model):
                    piece = begun.first
                    while piece.reply is None:
                        if text := seen.take(piece.text):
                            yield ReplyPiece(text=text)
                        piece = await begun.next(end)
                reply = self.recorder.paid(begun.allowed.row, found.model, piece.reply)
                if text := seen.rest():
                    yield ReplyPiece(text=text)
                yield ReplyPiece(reply=_whole(found, reply, request))

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
                others = may_others_answer(error)
                if model is models[-1] or not others:
                    await self.keep(error)
                    raise
                failures.append(f"{model.name} did not answer: {error.message}")
                self.log.warning("model did not answer", model=model.name, code=error.code)
        raise AssertionError("a role has at least one model")

    def _generate(
        self, request: Request, model: ProvidedModel
    ) -> Callable[[int], Awaitable[Reply]]:
        asked, _ = _for_model(request, model)
        paid = PaidRequest.of(
            model,
            "generate",
            asked,
            lambda allowed: model.provider.generate(model.id, allowed.applied(asked)),
        )
        return partial(self.recorder.attempt, paid)

    def _begin(
        self, request: Request, model: ProvidedModel
    ) -> Callable[[int], Awaitable[BegunStream]]:
        from vr_kernel.models.streams import BegunStream, next_piece, one_piece

        asked, whole = _for_model(request, model)

        def send(allowed: Allowance) -> Any:
            sent = allowed.applied(asked)
            if whole:
                return one_piece(model.provider.generate(model.id, sent))
            return model.provider.stream(model.id, sent)

        paid = PaidRequest.of(model, "stream", asked, send)

        async def attempt(number: int) -> BegunStream:
            allowed = await self.recorder.begin(paid, number)
            pieces = paid.send(allowed)
            with self.recorder.watched(allowed, model):
                return BegunStream(model, allowed, pieces, await next_piece(pieces))

        return attempt


def _for_model(request: Request, model: ProvidedModel) -> tuple[Request, bool]:
    """The request as that model takes it, and if the whole answer must be there to read it."""
    request = with_own_state(request, model.name)
    by_tools = request.tools or any(turn.calls for turn in request.turns)
    if not by_tools or model.known().tools:
        return request, False
    from vr_kernel.models.tools_by_schema import by_schema

    return by_schema(request), bool(request.tools)


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


def _whole(found: _Found[Any], reply: Reply, request: Request) -> Reply:
    with found.model.contained():  # its parts may be of any type
        named = marked(found.complete(reply), request, found.model.name)
        return with_calls_settled(_visible(named, request), request)
