"""The only access to language models: roles, retries, structured answers, and their cost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from pydantic import BaseModel

from vr_kernel.errors import VrError
from vr_kernel.files.artifacts import Artifacts
from vr_kernel.generation import (
    Embeddings,
    Media,
    Options,
    Purpose,
    Reply,
    ReplyPiece,
    Role,
    ThinkingLevel,
    Turn,
)
from vr_kernel.jobs.scopes import Scope
from vr_kernel.log import Log
from vr_kernel.models.usage import Meter

if TYPE_CHECKING:
    from vr_kernel.config.model_settings import ModelConfiguration
    from vr_kernel.files.digests import Digests
    from vr_kernel.generation import Request
    from vr_kernel.items.pictures import Picture
    from vr_kernel.models.answers import Answers
    from vr_kernel.models.provided import ProvidedModel
    from vr_kernel.models.provider import ModelInfo
    from vr_kernel.models.recorder import UsageRecorder
    from vr_kernel.models.requests import Parts, Requests
    from vr_kernel.models.retry import Retrier
    from vr_kernel.models.roles import Roles
    from vr_kernel.models.structured import Structured
    from vr_kernel.spending.prices import Price

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class LanguageModels:
    """Language models by role. In a tool, `call.services.models` accounts for that call.

    In a tool that is `long`, and in work that is cached, every answer is committed before it
    is returned, and found again when the work is done again after a crash.
    """

    configuration: ModelConfiguration
    roles: Roles
    retrier: Retrier
    recorder: UsageRecorder
    artifacts: Artifacts
    digests: Digests
    log: Log
    scope: Scope | None = None
    workspace: str = ""

    def of_call(self, meter: Meter, scope: Scope | None) -> LanguageModels:
        """The same models, for one call."""
        return replace(self, recorder=self.recorder.of(meter), scope=scope)

    def of_workspace(self, workspace: str, artifacts: Artifacts) -> LanguageModels:
        """The same models, for a workspace: its files are kept apart at the service."""
        return replace(self, workspace=workspace, artifacts=artifacts)

    def ready(self, role: Role = "default", *kinds: str) -> bool:
        """Check if some model of that role can be asked about such media, as far as is known."""
        try:
            return bool(self.roles.models(role, kinds))
        except VrError:
            return False

    def names(self, role: Role) -> list[str]:
        """List the models of a role, best first; see `Models.names`."""
        return self.roles.names(role)

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
        model: str = "",
    ) -> dict[str, Any]:
        """Name all that an answer depends on besides the request: a part of every cache key.

        Raises:
            VrError: AUTH when a key is missing; UNAVAILABLE when nothing serves the role;
                INVALID_INPUT for an invalid level or temperature, or an unknown model.
        """
        level, degree = self.configuration.chosen(thinking, temperature)
        names = self.roles.names(role, model)
        return {"models": names, "thinking": level, "temperature": degree}

    def info(self, role: Role = "default", *, model: str = "") -> ModelInfo:
        """Return what is known of the model that is asked first: its window, its tools, its media.

        Raises:
            VrError: like `identity`.
        """
        return self.roles.models(role, model=model)[0].known()

    def price(self, role: Role = "default") -> Price | None:
        """Return the price of the model that is asked first; see `Models.price`."""
        model = self.roles.models(role)[0]
        return model.price(model.id)

    def limit_spending(self, usd: float) -> None:
        """Let this call cost so much at most; see `Models.limit_spending`."""
        self.recorder.meter.limit_spending(usd)

    async def described(self, role: Role = "default") -> list[ModelInfo]:
        """Describe the models of a role as their servers do; see `Models.described`."""
        return await asyncio.gather(*(model.described() for model in self.roles.models(role)))

    def require(self, role: Role, *media: Media) -> None:
        """Refuse media that no ready model of a role takes; `generate` does, before it pays.

        Raises:
            VrError: UNSUPPORTED, category MEDIA_UNSUPPORTED; else as `identity`.
        """
        self.roles.models(role, {each.kind for each in media})

    async def generate(
        self,
        parts: Parts,
        *,
        role: Role = "default",
        history: Sequence[Turn] = (),
        **options: Unpack[Options],
    ) -> Reply:
        """A whole answer in free text.

        Args:
            parts: what is said to the model, after `history`.
            role: which models may answer.
            history: what was said before.
            options: of the request, see `vr_kernel.generation.Options`.

        Raises:
            VrError: see `ModelProvider.generate`; UNAVAILABLE, category CIRCUIT_OPEN,
                DEADLINE_EXCEEDED or NO_ROOM. `usage` says what was paid nevertheless.
        """
        request = await self._requests.make(parts, history, **options)
        models = self._models(role, request, options)
        answer = await self._answers.ask(models, request)
        self.recorder.meter.notes.extend(answer.reply.notes)
        return answer.reply

    @overload
    async def generate_structured(
        self,
        parts: Parts,
        schema: type[M],
        *,
        role: Role = ...,
        history: Sequence[Turn] = ...,
        **options: Unpack[Options],
    ) -> Structured[M]: ...
    @overload
    async def generate_structured(
        self,
        parts: Parts,
        schema: type[BaseModel] | Mapping[str, Any],
        *,
        role: Role = ...,
        history: Sequence[Turn] = ...,
        **options: Unpack[Options],
    ) -> Structured[Any]: ...
    async def generate_structured(
        self,
        parts: Parts,
        schema: type[BaseModel] | Mapping[str, Any],
        *,
        role: Role = "default",
        history: Sequence[Turn] = (),
        **options: Unpack[Options],
    ) -> Structured[Any]:
        """An answer in the shape of a pydantic model or of a JSON schema.

        An answer that does not fit is sent back once with the problem. The arguments are those of
        `generate`; `schema` is the shape.

        Raises:
            VrError: like `generate`; UNAVAILABLE, category REPLY_INVALID, when the second
                answer does not fit either; its text is kept as an artifact. INVALID_INPUT or
                TOO_LARGE for a caller's schema that cannot be used, before anything is sent.
        """
        from vr_kernel.models.repair import read_or_repair
        from vr_kernel.models.structured import Structured, shape_of

        shape = await shape_of(schema)
        request = await self._requests.make(parts, history, shape.schema, **options)
        models, answers = self._models(role, request, options), self._answers
        first = await answers.ask(models, request)
        value, reply = await read_or_repair(answers, first, models, request, shape)
        self.recorder.meter.notes.extend(reply.notes)
        return Structured(value, reply)

    async def stream(
        self,
        parts: Parts,
        *,
        role: Role = "default",
        history: Sequence[Turn] = (),
        **options: Unpack[Options],
    ) -> AsyncIterator[ReplyPiece]:
        """The answer in pieces as they arrive; the last one carries the whole `reply`.

        Only failures before the first piece are retried, also with other models. The
        arguments are those of `generate`.

        Raises:
            VrError: like `generate`; UNAVAILABLE, category REPLY_TRUNCATED, when the stream
                ends before the answer does.
        """
        request = await self._requests.make(parts, history, **options)
        deadline_s = self.configuration.current.deadline_s
        models = self._models(role, request, options)
        async with aclosing(self._answers.stream(models, request, deadline_s)) as pieces:
            async for piece in pieces:
                if piece.reply is not None:
                    self.recorder.meter.notes.extend(piece.reply.notes)
                yield piece

    async def embed(
        self,
        items: Sequence[str | Picture],
        purpose: Purpose,
        *,
        role: Role = "embedding",
        dimension: int | None = None,
    ) -> Embeddings:
        """One vector per item, in order, of unit length: vectors of the role's first model alone.

        Raises:
            VrError: like `generate`; UNSUPPORTED, category MEDIA_UNSUPPORTED, for pictures when
                the model takes texts alone.
        """
        from vr_kernel.models.embedding import embed

        models = self.roles.models(role)
        return await embed(models, items, purpose, dimension, self.retrier, self.recorder)

    async def count_tokens(
        self,
        parts: Parts,
        *,
        role: Role = "default",
        history: Sequence[Turn] = (),
        **options: Unpack[Options],
    ) -> int:
        """Count the tokens of the request, as its model counts them; costs nothing.

        Raises:
            VrError: like `generate`.
        """
        request = await self._requests.make(parts, history, **options)
        model = self.roles.models(role, model=options.get("model", ""))[0]
        if self.recorder.previews:
            from vr_kernel.spending.sizes import size_of

            return size_of(request, 0).expected

        async def attempt(_number: int) -> int:
            return await model.provider.count_tokens(model.id, request)

        with model.contained():
            return await self.retrier.run(model.name, attempt)

    def _models(self, role: Role, request: Request, options: Options) -> list[ProvidedModel]:
        return self.roles.models(role, request.kinds, options.get("model", ""))

    @property
    def _answers(self) -> Answers:
        from vr_kernel.models.answers import Answers

        return Answers(self.retrier, self.recorder, self.artifacts, self.log, self.scope)

    @property
    def _requests(self) -> Requests:
        from vr_kernel.models.requests import Requests

        return Requests(self.configuration, self.digests, self.workspace)
