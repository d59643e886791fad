"""The request for a piece of research, and the limits of each scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vr_kernel import Code, ThinkingLevel, VrError, visible_line

from vr_plugin_research.gathering.places import PLACES, PlaceName
from vr_plugin_research.results.report import Scope

TOPIC_CHARS = 4_000
MOST_GIVEN = 100
GIVEN_CHARS = 200_000
QUERIES_A_QUESTION = 2


@dataclass(frozen=True, slots=True)
class Limits:
    """The most rounds and sources of a piece of research, and searches of a round."""

    rounds: int
    sources: int
    queries: int


SCOPES: Mapping[Scope, Limits] = {
    "quick": Limits(1, 5, 3),
    "moderate": Limits(2, 12, 6),
    "deep": Limits(3, 30, 10),
    "comprehensive": Limits(5, 80, 16),
}


@dataclass(frozen=True, slots=True)
class ResearchRequest:
    """A question, and how far to go for it.

    Args:
        topic: the question.
        scope: sets the limits.
        context: what the person says besides.
        thinking: how hard models think.
        depth: most rounds, over the scope's.
        sources: most sources, over the scope's.
        budget_usd: the most that models may cost.
        documents: given sources: paths, addresses, ids of records.
        places: what is searched.
        approve: what a person is asked about.
    """

    topic: str
    scope: Scope = "moderate"
    context: str = ""
    thinking: ThinkingLevel | None = "high"
    depth: int | None = None
    sources: int | None = None
    budget_usd: float | None = None
    documents: Sequence[str] = ()
    places: Sequence[PlaceName] = PLACES
    approve: Sequence[str] = ()

    @property
    def limits(self) -> Limits:
        """The limits of the scope, or those that were asked for."""
        own = SCOPES[self.scope]
        return Limits(self.depth or own.rounds, self.sources or own.sources, own.queries)


def check_topic(topic: str) -> str:
    """Return a topic in plain signs.

    Raises:
        VrError: INVALID_INPUT for a blank one; TOO_LARGE for a long one.
    """
    if len(topic) > TOPIC_CHARS:
        raise VrError(
            f"The topic has {len(topic):,} characters; at most {TOPIC_CHARS:,} are taken.",
            Code.TOO_LARGE,
            hint="Ask one question; give long material as documents.",
        )
    plain = visible_line(topic)
    if not any(sign.isalnum() for sign in plain):
        raise VrError(
            "The topic is blank.", Code.INVALID_INPUT, hint="Ask a question or name a topic."
        )
    return plain


def check_context(context: str) -> str:
    """Return what a person says besides, in plain signs; it may be blank.

    Raises:
        VrError: TOO_LARGE.
    """
    return check_topic(context) if context.strip() or len(context) > TOPIC_CHARS else ""


def check_given(given: Sequence[str]) -> None:
    """Refuse given sources that are blank, too many or too long.

    Raises:
        VrError: INVALID_INPUT, TOO_LARGE.
    """
    if len(given) > MOST_GIVEN:
        raise VrError(
            f"{len(given)} sources were given; at most {MOST_GIVEN} are taken.",
            Code.TOO_LARGE,
            hint="Give a folder, or fewer sources.",
        )
    for each in given:
        if not each.strip():
            raise VrError("A source is blank.", Code.INVALID_INPUT, hint="Leave it out.")
        if len(each) > GIVEN_CHARS:
            raise VrError(
                f"A source has {len(each):,} characters.",
                Code.TOO_LARGE,
                hint="Save a long text as a file, and give its path.",
            )
