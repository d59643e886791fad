"""One research at the service, as the plugin keeps it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel
from vr_kernel import Usage, WebSource, entity_key

State = Literal["in_progress", "completed", "incomplete", "failed", "cancelled"]
MOST_CHARS = 200_000
"""Longest text that is kept in a row, in characters: at most 800 KB."""
MOST_SOURCES = 200
MOST_ADDRESS, MOST_TITLE = 500, 100
"""Longest address and title of a page, in characters; longer addresses are left out."""


class Interaction(BaseModel):
    """A research: its question, and its outcome once it has ended.

    Attributes:
        id: the name of it that people are given.
        started: its id at the kernel, which names the key that it belongs to.
        topic: the question.
        created: the time when it began, in ISO 8601.
        follows: id of the research that it is a question about.
        chars: length of the whole text.
        whole_uri: the artifact with the whole text, where `text` is its beginning.
    """

    id: str
    started: str
    topic: str
    created: str
    follows: str = ""
    state: State = "in_progress"
    text: str = ""
    chars: int = 0
    whole_uri: str = ""
    sources: list[WebSource] = []
    usage: Usage | None = None
    model: str = ""
    problem: str = ""

    @property
    def has_ended(self) -> bool:
        """True when nothing will change any more."""
        return self.state != "in_progress"

    @property
    def answers(self) -> bool:
        """True when it has a text that is an answer, be it whole or not."""
        return self.state in ("completed", "incomplete")


def public_id(started: str) -> str:
    """Return the name of a research for people, which reveals nothing of its key."""
    return entity_key("interaction", started)


def kept_sources(sources: list[WebSource]) -> list[WebSource]:
    """Return the pages as far as a row has room for them."""
    short = [it for it in sources if len(it.url) <= MOST_ADDRESS]
    return [WebSource(title=it.title[:MOST_TITLE], url=it.url) for it in short[:MOST_SOURCES]]
