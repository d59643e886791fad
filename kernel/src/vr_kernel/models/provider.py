"""The protocol of providers of language models."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from vr_kernel.generation import (
    Embeddings,
    Purpose,
    Reply,
    ReplyPiece,
    Request,
    Role,
    ThinkingLevel,
)

if TYPE_CHECKING:
    from vr_kernel.errors import VrError
    from vr_kernel.items.pictures import Picture


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """The way to a provider of models: its address, and the variable of its key.

    Args:
        address: the base URL of the service.
        variable: the environment variable that holds its key; empty for a service without keys.
        ready: whether all that it needs is configured; says nothing of the service itself.
        local: whether requests stay on this machine, or with a local host that the user named.
        model_setting: the setting of its plugin that names its model.
        address_setting: the setting that holds its address, where it is not the usual one.
        problem: the error of a configuration that cannot be used.
    """

    address: str = ""
    variable: str = ""
    ready: bool = True
    local: bool = False
    model_setting: str = ""
    address_setting: str = ""
    problem: VrError | None = None


@dataclass(frozen=True, slots=True)
class VectorInfo:
    """The vectors of a model that embeds, and how many it makes at once.

    Args:
        dimension: length of a whole vector; 0 when that is not known.
        shortens: whether a vector stays useful when a request asks for its first numbers alone.
        items: most items of a request.
        tokens: most tokens of a request, of all items together; 0 when that is not limited.
    """

    dimension: int = 0
    shortens: bool = False
    items: int = 100
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model as its provider knows it: the thinking levels and kinds of part that it takes."""

    name: str
    thinking: tuple[ThinkingLevel, ...] = ()
    """Empty when the model does not think or its levels are not known."""
    accepts: frozenset[str] = frozenset({"text"})
    """Of `text`, `image`, `audio`, `video`, `pdf`, `youtube`."""
    embeds: bool = False
    tools: bool = False
    """True when it takes `Request.tools`; it is asked for calls by a schema otherwise."""
    context: int = 0
    """Most tokens of a request, its window; 0 when that is not known."""
    output: int = 0
    """Most tokens of an answer, thinking included; 0 when that is not known."""
    vectors: VectorInfo = VectorInfo()
    """Of a model that embeds; its `context` is the most tokens of one text."""
    picture: int = 0
    """Most tokens of a picture in a request; 0 when it takes no more than most models do."""
    remote: bool = False
    """True when a local server passes its requests on to a service elsewhere."""


class ModelProvider(Protocol):
    """Reaches the models of one maker. Every method makes one attempt and never retries.

    What fails is raised as `VrError`: `retryable` says whether the next attempt may succeed,
    `retry_after` when. An error of an attempt that was paid for carries it in `usage`.

    The calls of a reply may lack ids, or share them: the kernel tells them apart. Make them with
    `ToolCall.read`. A reply's `state` comes back in the turn that was made of it, to that model
    alone. A request has one result for each call, in the turn after it.

    A provider may also have:

    - `presets(role) -> Mapping[str, str]`: its models for a role by the names of presets, one of
      which a call may choose;
    - `models_for(role, model="") -> Sequence[str]`: the models to ask for a role, the best first,
      that of `model_for` and then its fallback; with a `model`, that one and those that the user
      configured to come after it;
    - `access() -> ModelAccess`: where it is reached. One without is taken for a remote service;
    - `info(model) -> ModelInfo`: what is known of a model, also of one that `models` does not list;
    - `async look(model) -> None`: has its server say what a model can do, for nothing; `info`
      knows it then;
    - `price(model) -> Price | None`: the price of a model, None when it is not known. A usage whose
      `cost_usd` it sets itself needs none;
    - `prices_of`: the date of its price list, as text;
    - `async list_models() -> Sequence[str]`: the models that the service offers now;
    - `async serving() -> Sequence[str] | None`: of one on this machine, the models of the server
      that answers there, whether it is configured or not; None when there is no such server.
    """

    name: str

    def check(self) -> None:
        """Check that the provider can be used.

        Raises:
            VrError: AUTH, naming the variable that is missing and where to get a key.
        """

    def model_for(self, role: Role) -> str | None:
        """The model that the provider suggests for a role, without its own name before it."""

    def models(self) -> Sequence[ModelInfo]:
        """The models that are known; others may be asked for as well."""

    async def generate(self, model: str, request: Request) -> Reply:
        """The whole answer.

        Raises:
            VrError: NOT_ALLOWED, category SAFETY_BLOCKED; TOO_LARGE, category REPLY_CUT_OFF,
                with the text so far in `detail`; AUTH, QUOTA, INVALID_INPUT, NOT_FOUND,
                UNAVAILABLE for what the service says.
        """

    def stream(self, model: str, request: Request) -> AsyncIterator[ReplyPiece]:
        """The answer in pieces, the last of which carries the whole `reply`.

        Raises:
            VrError: like `generate`; UNAVAILABLE, category REPLY_TRUNCATED, when the stream
                ends before the answer does.
        """

    async def embed(
        self,
        model: str,
        items: Sequence[str | Picture],
        purpose: Purpose,
        dimension: int | None,
    ) -> Embeddings:
        """One vector per item; pictures come only to models whose `accepts` has `image`.

        The items of one call fit into one request, by `ModelInfo.vectors`.
        """

    async def count_tokens(self, model: str, request: Request) -> int:
        """Count the tokens of the request."""
