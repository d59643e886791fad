"""The one door to language models: roles, retries, structured answers, and what they cost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, TypeVar, overload

from pydantic import BaseModel

from vr_kernel.answers import Answers, Shape
from vr_kernel.artifacts import Artifacts
from vr_kernel.cache import cache_key
from vr_kernel.candidates import Candidate, Roles
from vr_kernel.errors import VrError
from vr_kernel.generation import (
    EmbeddingPurpose,
    Embeddings,
    Part,
    Reply,
    ReplyPiece,
    Request,
    Role,
    Text,
    ThinkingLevel,
    Turn,
)
from vr_kernel.log import Log
from vr_kernel.metering import Payments
from vr_kernel.retry import Retrier
from vr_kernel.scopes import Scope
from vr_kernel.structured import ModelShape, SchemaShape, Structured
from vr_kernel.usage import Meter

M = TypeVar("M", bound=BaseModel)
Parts = str | Sequence[Part | str]
"""What a user says to a model: words, or words and media."""


@dataclass(frozen=True, slots=True)
class Models:
    """Language models by role. In a tool, `call.services.models` accounts for that call.

    In a tool that is `long`, and in work that is cached, every answer is committed before it
    is returned, and found again when the work is done again after a crash.
    """

    roles: Roles
    retrier: Retrier
    payments: Payments
    artifacts: Artifacts
    log: Log
    scope: Scope | None = None

    def of_call(self, meter: Meter, scope: Scope | None) -> Models:
        """The same door, for one call."""
        return replace(self, payments=self.payments.of(meter), scope=scope)

    def ready(self, role: Role = "default") -> bool:
        """Whether some model of that role can be asked, as far as is known without asking."""
        return bool(self.suggested(role))

    def suggested(self, role: Role) -> list[str]:
        """The models of a role that are ready, as `provider/model`; none without a key."""
        try:
            return self.roles.names(role)
        except VrError:
            return []

    def identity(
        self,
        role: Role = "default",
        *,
        thinking: ThinkingLevel | None = None,
        temperature: float | None = None,
    ) -> dict[str, Any]:
        """What an answer depends on beside the request: a part of every cache key.

        Raises:
            VrError: AUTH when a key is missing; UNAVAILABLE when nothing serves the role;
                INVALID_INPUT for a level or a temperature that there is not.
        """
        level, degree = self.roles.configuration.chosen(thinking, temperature)
        return {"models": self.roles.names(role), "thinking": level, "temperature": degree}

    async def generate(
        self,
        parts: Parts,
        *,
        role: Role = "default",
        history: Sequence[Turn] = (),
        system: str = "",
        thinking: ThinkingLevel | None = None,
        temperature: float | None = None,
        max_output_tokens: int | None = None,
        search: bool = False,
        url_context: bool = False,
        cached_content: str = "",
    ) -> Reply:
        """A whole answer in free text.

        Args:
            parts: what is said to the model, after `history`.
            role: which models may answer.
            history: what was said before.
            system: the system instruction.
            thinking: how hard to think; as configured when left out.
            temperature: how free to choose words, 0 to 2; as configured when left out.
            max_output_tokens: where to cut the answer.
            search: let the model search the web.
            url_context: let the model read the addresses that the request names.
            cached_content: a context cache that holds the beginning of the request.

        Raises:
            VrError: see `ModelProvider.generate`; UNAVAILABLE, category CIRCUIT_OPEN or
                DEADLINE_EXCEEDED. `usage` says what was paid all the same.
        """
        request = self._request(
            parts,
            history,
            system=system,
            thinking=thinking,
            temperature=temperature,
            max_output_tokens=max_output_tokens,
            search=search,
            url_context=url_context,
            cached_content=cached_content,
        )
        candidates = self.roles.candidates(role)

        async def pay() -> Any:
            reply = await self._answers.ask(candidates, request)
            return {"reply": reply.model_dump(mode="json"), "value": None}

        reply, _ = await self._committed(candidates, request, pay)
        return reply

    @overload
    async def generate_structured(
        self, parts: Parts, schema: type[M], **options: Any
    ) -> Structured[M]: ...
    @overload
    async def generate_structured(
        self, parts: Parts, schema: Mapping[str, Any], **options: Any
    ) -> Structured[Any]: ...
    @overload
    async def generate_structured(
        self, parts: Parts, schema: type[BaseModel] | Mapping[str, Any], **options: Any
    ) -> Structured[Any]: ...
    async def generate_structured(
        self,
        parts: Parts,
        schema: type[BaseModel] | Mapping[str, Any],
        *,
        role: Role = "default",
        history: Sequence[Turn] = (),
        **options: Any,
    ) -> Structured[Any]:
        """An answer in the shape of a pydantic model or of a JSON schema.

        An answer that does not fit goes back once with what is wrong with it. `options` are
        those of `generate`.

        Raises:
            VrError: like `generate`; UNAVAILABLE, category REPLY_INVALID, when the second
                answer does not fit either; its text is kept as an artifact. What is wrong with
                a caller's schema: INVALID_INPUT or TOO_LARGE, before anything is sent.
        """
        shape: Shape[Any]
        if isinstance(schema, type):
            shape = ModelShape(schema)
        else:  # A large one takes a while to look at.
            shape = await asyncio.to_thread(SchemaShape, schema)
        request = self._request(parts, history, schema=shape.schema, **options)
        candidates = self.roles.candidates(role)

        async def pay() -> Any:
            value, reply = await self._answers.fitting(candidates, request, shape)
            return {"reply": reply.model_dump(mode="json"), "value": shape.dump(value)}

        reply, value = await self._committed(candidates, request, pay)
        return Structured(shape.load(value), reply)

    async def stream(
        self, parts: Parts, *, role: Role = "default", history: Sequence[Turn] = (), **options: Any
    ) -> AsyncIterator[ReplyPiece]:
        """The answer in pieces as they come; the last one carries the whole `reply`.

        Only what fails before the first piece is tried again, also with other models. `options`
        are those of `generate`.

        Raises:
            VrError: like `generate`; UNAVAILABLE, category REPLY_TRUNCATED, when the stream
                ends before the answer does.
        """
        request = self._request(parts, history, **options)
        deadline_s = self.roles.configuration.current.deadline_s
        candidates = self.roles.candidates(role)
        async with aclosing(self._answers.stream(candidates, request, deadline_s)) as pieces:
            async for piece in pieces:
                if piece.reply is not None:
                    self.payments.meter.notes.extend(piece.reply.notes)
                yield piece

    async def embed(
        self,
        items: Sequence[str],
        purpose: EmbeddingPurpose,
        *,
        role: Role = "embedding",
        dimension: int | None = None,
    ) -> Embeddings:
        """One vector an item, in order, of unit length.

        Raises:
            VrError: like `generate`.
        """
        candidate = self.roles.candidates(role)[0]

        async def attempt(number: int) -> Embeddings:
            return await self.payments.attempt(
                candidate,
                "embed",
                number,
                lambda: candidate.provider.embed(candidate.model, items, purpose, dimension),
            )

        async with self.payments.room:
            made = await self.retrier.run(candidate.name, attempt)
        return made.model_copy(update={"model": f"{candidate.provider.name}/{made.model}"})

    async def count_tokens(
        self, parts: Parts, *, role: Role = "default", history: Sequence[Turn] = (), **options: Any
    ) -> int:
        """How many tokens the request has, as its model counts them; costs nothing.

        Raises:
            VrError: like `generate`.
        """
        request = self._request(parts, history, **options)
        candidate = self.roles.candidates(role)[0]

        async def attempt(_number: int) -> int:
            return await candidate.provider.count_tokens(candidate.model, request)

        return await self.retrier.run(candidate.name, attempt)

    @property
    def _answers(self) -> Answers:
        return Answers(self.retrier, self.payments, self.artifacts, self.log)

    def _request(self, parts: Parts, history: Sequence[Turn], **options: Any) -> Request:
        thinking, temperature = self.roles.configuration.chosen(
            options.get("thinking"), options.get("temperature")
        )
        said = [parts] if isinstance(parts, str) else parts
        turn = Turn("user", tuple(Text(p) if isinstance(p, str) else p for p in said))
        return Request(
            (*history, turn), **{**options, "thinking": thinking, "temperature": temperature}
        )

    async def _committed(
        self,
        candidates: Sequence[Candidate],
        request: Request,
        pay: Callable[[], Awaitable[dict[str, Any]]],
    ) -> tuple[Reply, Any]:
        """Reply and value of a step: those that were committed before, or new ones."""
        paid = False

        async def paying() -> dict[str, Any]:
            nonlocal paid
            paid = True
            return await pay()

        names = [candidate.name for candidate in candidates]
        key = cache_key(models=names, **request.identity)
        found = await (self.scope.run(key, paying) if self.scope else paying())
        reply = Reply.model_validate(found["reply"])
        if not paid:  # the result costs what an earlier run of this work paid
            self.payments.meter.add(reply.usage, reply.model)
        self.payments.meter.notes.extend(reply.notes)
        return reply, found["value"]
