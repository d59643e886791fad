"""A request that costs something, what was allowed for it, and the answer to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from vr_kernel.generation import Media, Part, Request
from vr_kernel.spending.sizes import Size, media_of, size_of

if TYPE_CHECKING:
    from vr_kernel.errors import VrError
    from vr_kernel.generation import Usage
    from vr_kernel.models.provided import ProvidedModel

MOST_ANSWER = 131_072
"""Most tokens of an answer of a model of which that is not known."""


class Place(Protocol):
    """A place where paid answers are kept."""

    @property
    def folder(self) -> Path | None:
        """The folder of this machine in which it needs room; None when it is elsewhere."""

    async def check(self) -> None:
        """Check that it can be written now.

        Raises:
            VrError: UNAVAILABLE, category STATE_UNAVAILABLE, when it cannot.
        """


class Paid(Protocol):
    """An answer with its model and cost."""

    @property
    def model(self) -> str:
        """The model that answered."""

    @property
    def usage(self) -> Usage:
        """The cost."""


S_co = TypeVar("S_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Allowance:
    """The cost that one attempt may have.

    Args:
        row: of the attempt in the usage ledger.
        output: most tokens of its answer, where a budget allows no more.
        eased: whether it is to cost less, as most of a budget is used.
    """

    row: int
    output: int | None = None
    eased: bool = False

    def explain(self, error: VrError) -> None:
        """Say in the error of an answer that was cut that the budget allowed no longer one."""
        if self.output is not None and error.category == "REPLY_CUT_OFF":
            error.hint = (
                f"The budget had {self.output:,} tokens left for it: raise [models]"
                " call_budget_usd, day_budget_usd or principal_budget_usd, or ask for less at once."
            )

    def applied(self, request: Request) -> Request:
        """The request as it may be sent."""
        if self.output is not None:
            request = replace(request, max_output_tokens=self.output)
        return eased(request) if self.eased else request


@dataclass(frozen=True, slots=True)
class PaidRequest(Generic[S_co]):
    """A request that costs something, whichever of its attempts succeeds.

    Args:
        model: the one that is asked.
        purpose: as in `Attempt` of the usage ledger.
        send: sends it once, as it is allowed; returns an awaitable, or the pieces of a stream.
        size: of the request in tokens.
        answer: most tokens of its answer.
        media_seconds: length of the media in it, as far as known.
        ends: whether the request or its model is known to end an answer there.
    """

    model: ProvidedModel
    purpose: str
    send: Callable[[Allowance], S_co]
    size: Size = field(default_factory=Size)
    answer: int = 0
    media_seconds: float = 0.0
    ends: bool = True

    @classmethod
    def of(
        cls,
        model: ProvidedModel,
        purpose: str,
        request: Request,
        send: Callable[[Allowance], S_co],
    ) -> PaidRequest[S_co]:
        """A request for an answer, with its size."""
        known = model.known()
        return PaidRequest(
            model,
            purpose,
            send,
            size=size_of(request, known.context, known.picture),
            answer=request.max_output_tokens or known.output or MOST_ANSWER,
            media_seconds=sum(media.seconds for media in media_of(request)),
            ends=bool(request.max_output_tokens or known.output),
        )


def eased(request: Request) -> Request:
    """The request with less thinking, and with media that are looked at less closely."""
    thinking = request.thinking and ("minimal" if request.thinking == "minimal" else "low")
    turns = tuple(replace(turn, parts=tuple(map(_coarse, turn.parts))) for turn in request.turns)
    return replace(request, thinking=thinking, turns=turns)


def _coarse(part: Part) -> Part:
    return replace(part, resolution="low") if isinstance(part, Media) else part


@dataclass(slots=True)
class Foreseen:
    """The requests of a preview: the first of each course of work is noted and not sent.

    Args:
        requests: those that would be sent.
        refused: those for which no budget has room, with the error that says so.
    """

    requests: list[PaidRequest[Any]] = field(default_factory=list)
    refused: list[tuple[PaidRequest[Any], VrError]] = field(default_factory=list)

    def told(self, *, ended: bool) -> list[str]:
        """Remarks on what is refused; `ended` says that the call did not go on without it."""
        if ended:
            return [f"This call would be refused. {why.told}" for _, why in self.refused[-1:]]
        return [f"{it.model.name} would not be asked: {why.message}" for it, why in self.refused]

    @property
    def estimated(self) -> list[PaidRequest[Any]]:
        """The requests whose cost an estimate tells: where all are refused, the last of them."""
        return self.requests or [request for request, _ in self.refused[-1:]]
