"""Language models: access to them, what only Gemini has, and their cost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from pydantic import BaseModel

if TYPE_CHECKING:
    from typing import Unpack

    from vr_kernel.gemini.research_status import ResearchStatus
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
    from vr_kernel.items.pictures import Picture
    from vr_kernel.models.provider import ModelInfo, ModelProvider
    from vr_kernel.models.requests import Parts
    from vr_kernel.models.structured import Structured
    from vr_kernel.progress import Report
    from vr_kernel.spending.prices import Price
    from vr_kernel.state.usage import Grouping, UsageRow

M = TypeVar("M", bound=BaseModel)


class Models(Protocol):
    """The only access to language models, by role. In a tool it accounts for that call."""

    def ready(self, role: Role = "default", *kinds: str) -> bool:
        """Return True when some model of that role can be asked, as far as is known.

        Args:
            role: the use of the model.
            kinds: media that it must take, such as `video`; see `Media.kind`.
        """

    def names(self, role: Role) -> list[str]:
        """List the models of a role, best first, as `provider/model`.

        Raises:
            VrError: AUTH when no model is ready because a key is missing; UNAVAILABLE when nothing
                serves the role.
        """

    def suggested(self, role: Role) -> list[str]:
        """List the models of a role that are ready, as `provider/model`; none without a key."""

    def identity(
        self,
        role: Role = "default",
        *,
        thinking: ThinkingLevel | None = None,
        temperature: float | None = None,
        model: str = "",
    ) -> dict[str, Any]:
        """Return all that an answer depends on besides the request: a part of every cache key."""

    def info(self, role: Role = "default", *, model: str = "") -> ModelInfo:
        """Return what is known of the model that is asked first: its window, its tools, its media.

        Args:
            role: the use of the model.
            model: the only one to ask, as in `Options`.

        Raises:
            VrError: as `names`; INVALID_INPUT for an unknown model or preset.
        """

    def price(self, role: Role = "default") -> Price | None:
        """Return the price of the model that is asked first; None when it is not known.

        Raises:
            VrError: as `names`.
        """

    def limit_spending(self, usd: float) -> None:
        """Let the requests of this call cost so much at most, besides what is configured.

        A request that could pass it is refused with BUDGET, category BUDGET_EXCEEDED.

        Raises:
            ValueError: for an amount that is no number, or below 0.
        """

    async def described(self, role: Role = "default") -> list[ModelInfo]:
        """Describe the models of a role, best first, as their servers do, where that costs nothing.

        Raises:
            VrError: as `names`.
        """

    def require(self, role: Role, /, *media: Media) -> None:
        """Refuse media that no ready model of a role takes, as `generate` does before it pays.

        Raises:
            VrError: UNSUPPORTED.
        """

    async def generate(
        self,
        parts: Parts,
        *,
        role: Role = "default",
        history: Sequence[Turn] = (),
        **options: Unpack[Options],
    ) -> Reply:
        """Answer in free text."""

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

    def stream(
        self,
        parts: Parts,
        *,
        role: Role = "default",
        history: Sequence[Turn] = (),
        **options: Unpack[Options],
    ) -> AsyncIterator[ReplyPiece]:
        """Answer in pieces as they arrive; the last one carries the whole `reply`."""

    async def embed(
        self,
        items: Sequence[str | Picture],
        purpose: Purpose,
        *,
        role: Role = "embedding",
        dimension: int | None = None,
    ) -> Embeddings:
        """Return one vector per item, in order, of unit length."""

    async def count_tokens(
        self,
        parts: Parts,
        *,
        role: Role = "default",
        history: Sequence[Turn] = (),
        **options: Unpack[Options],
    ) -> int:
        """Count the tokens of a request as its model counts them; costs nothing."""


class Gemini(Protocol):
    """The functions that only the Gemini service has."""

    @property
    def models(self) -> ModelProvider:
        """The provider of models named `gemini`."""

    async def upload(self, media: Media, report: Report = ...) -> str:
        """Return the address of the file at the service, uploaded when it is not there."""

    async def cached_content(self, model: str, content: Media, *, system: str = "") -> str | None:
        """Return the name of a context cache of that content, made when needed."""

    def prewarm(self, model: str, content: Media, *, system: str = "") -> None:
        """Make a context cache in the background; the caller may close its file at once."""

    async def refresh(self, name: str) -> bool:
        """Restart the time to live of a context cache; False when the cache is gone."""

    async def start_research(self, prompt: str, *, agent: str = "", previous: str = "") -> str:
        """Start a Deep Research; the returned id is valid in any process.

        With the id of a finished one as `previous`, ask the usual model about that, or an agent.
        """

    async def research_status(self, started: str) -> ResearchStatus:
        """Look at a research without waiting; its cost is accounted for once, when it has ended."""

    async def cancel_research(self, started: str) -> ResearchStatus:
        """Cancel a research, and return its state then; one that has ended stays as it is."""

    async def research_result(self, started: str, *, report: Report = ...) -> Reply:
        """Wait up to an hour for a research, and return its result."""

    async def deep_research(self, prompt: str, *, agent: str = "", report: Report = ...) -> Reply:
        """Research a question; when repeated after a crash, wait for the one that was started."""


class UsageReader(Protocol):
    """The ledger of requests to language models and their cost."""

    async def report(
        self,
        by: Grouping,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        principal: str | None = None,
    ) -> list[UsageRow]:
        """Sum by tool, UTC day, answering model or plugin."""
