"""The part of a provider that is the same for services of every family."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any, Protocol, TypeVar

from vr_kernel import Code, ModelAccess, ModelInfo, Price, Role, VrError

from vr_plugin_models.catalogue.known_models import priced_at
from vr_plugin_models.endpoint import Endpoint
from vr_plugin_models.failures import Failures

T = TypeVar("T")
LESSONS = 6
"""Most refusals that one attempt learns from; none of them is paid for."""


class Learner(Protocol):
    """The ways of asking a model."""

    def learn(self, refusal: str, sent: dict[str, Any]) -> bool:
        """Learn from a refusal; False when it says nothing about the ways of asking."""


class StreamReading(Protocol):
    """An answer that arrives in parts."""

    @property
    def text(self) -> str:
        """The words so far."""

    @property
    def is_finished(self) -> bool:
        """True when a reason for the end was given."""


class ServiceModels(ABC):
    """A service: its address, its models and their prices; see `ModelProvider`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.name = endpoint.row.name
        self.endpoint = endpoint

    @cached_property
    def failures(self) -> Failures:
        """Makes the errors of the service."""
        endpoint, row = self.endpoint, self.endpoint.row
        return Failures(
            row.title,
            variable=f"{row.name}_api_key".upper(),
            key_page=row.key_page,
            address=endpoint.address,
            key=endpoint.key,
            local=row.local,
            start=row.start,
        )

    async def serving(self) -> list[str] | None:
        """The models of its server on this machine, configured or not; None when there is none."""
        from vr_plugin_models.local_servers import find_server

        address = self.endpoint.loopback
        return await find_server(self.endpoint.row.family, address) if address else None

    def adapted(self, info: ModelInfo) -> ModelInfo:
        """Add to the description of a model what was learned of it."""
        return info

    @abstractmethod
    async def list_models(self) -> list[str]:
        """The models that the service offers now.

        Raises:
            VrError: like `generate`.
        """

    @abstractmethod
    def translated(self, model: str) -> AbstractContextManager[None]:
        """Turn every error of the client library into one of the kernel's."""

    def check(self) -> None:
        """Check that key and address are configured; see `Endpoint.check`."""
        self.endpoint.check()

    def access(self) -> ModelAccess:
        """The way to the service."""
        return self.endpoint.access()

    def model_for(self, role: Role) -> str | None:
        """The model for a role."""
        return self.endpoint.model_for(role)

    def models_for(self, role: Role, model: str = "") -> Sequence[str]:
        """The models for a role, or those after a model."""
        return self.endpoint.models_for(role, model)

    def presets(self, role: Role) -> dict[str, str]:
        """The presets that are models of this service."""
        return self.endpoint.presets(role)

    def models(self) -> Sequence[ModelInfo]:
        """The models that are known."""
        return [self.adapted(info) for info in self.endpoint.models()]

    def info(self, model: str) -> ModelInfo:
        """Describe a model, also one that `models` does not list."""
        return self.adapted(self.endpoint.info(model))

    def price(self, model: str) -> Price | None:
        """The price of a model."""
        return self.endpoint.price(model)

    @property
    def prices_of(self) -> str:
        """The date of the price list."""
        return priced_at().isoformat()

    async def completed(self, error: VrError, model: str) -> VrError:
        """The error, with the models that the service offers when it does not know this one."""
        if error.code is not Code.NOT_FOUND:
            return error
        try:
            offered = await self.list_models()
        except VrError:
            return error
        return self.failures.unknown_model(error, model, offered)

    async def learning(
        self,
        model: str,
        dialect: Learner,
        fields: Callable[[], Awaitable[dict[str, Any]]],
        send: Callable[[dict[str, Any]], Awaitable[T]],
    ) -> T:
        """Send a request, again in another dialect while the service refuses the dialect.

        Args:
            model: that is asked.
            dialect: learns from refusals.
            fields: makes the request in the dialect as it is then.
            send: sends it.
        """
        for lesson in range(LESSONS):
            sent = await fields()
            try:
                with self.translated(model):
                    return await send(sent)
            except VrError as error:
                refused = error.code is Code.INVALID_INPUT
                if not refused or lesson == LESSONS - 1 or not dialect.learn(error.message, sent):
                    raise
        raise AssertionError("the last lesson raises")

    async def texts(
        self, parts: Any, reading: StreamReading, take: Callable[[Any], str], model: str
    ) -> AsyncGenerator[str]:
        """The words of a stream, as each of its parts adds them to the reading.

        Raises:
            VrError: category REPLY_TRUNCATED when it breaks off, with the words so far.
        """
        begun = False
        try:
            with self.translated(model):
                async for part in parts:
                    text = take(part)
                    begun = True
                    if text:
                        yield text
        except VrError as error:
            if begun and error.code is Code.UNAVAILABLE:
                raise self.failures.truncated(reading.text) from None
            raise
        if not reading.is_finished:
            raise self.failures.truncated(reading.text)

    def require_room(self, model: str, tokens: int) -> None:
        """Refuse a request that is larger than the model's window, before it is paid for.

        Raises:
            VrError: TOO_LARGE, category CONTEXT_EXCEEDED.
        """
        window = self.info(model).context
        if window and tokens > window:
            raise VrError(
                f"The request has about {tokens:,} tokens; {self.name}/{model} takes {window:,}.",
                Code.TOO_LARGE,
                category="CONTEXT_EXCEEDED",
                hint="Send less at once, or name a model with a larger window in [models].",
            )
