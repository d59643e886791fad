"""The state of a research, read from an interaction as the service shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from vr_kernel.errors import Code, VrError
from vr_kernel.gemini.catalogue import DEEP_RESEARCH
from vr_kernel.generation import Reply, Usage, WebSource
from vr_kernel.text.visible_text import visible, visible_line

ResearchState = Literal["in_progress", "completed", "incomplete", "failed", "cancelled"]
"""`incomplete` has the text that there was when a limit was reached."""
PROBLEM_CHARS = 300
"""Longest reason of a failure."""
_STATES: Mapping[str, ResearchState] = {
    "": "in_progress",
    "in_progress": "in_progress",
    "queued": "in_progress",
    "completed": "completed",
    "incomplete": "incomplete",
    "budget_exceeded": "incomplete",
    "cancelled": "cancelled",
}
"""By the service's own word; whatever else it says does not become an answer by waiting."""


class ResearchStatus(BaseModel):
    """The state of a research, with its answer and its cost once it has ended.

    Attributes:
        state: `completed` and `incomplete` have a text.
        text: the last answer, without what was said on the way to it.
        sources: the pages that the answer names.
        usage: the cost, as far as the service tells it.
        model: the agent or model that answered.
        problem: the reason why there is no whole answer.
    """

    model_config = ConfigDict(frozen=True)

    state: ResearchState
    text: str = ""
    sources: list[WebSource] = []
    usage: Usage = Usage()
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


def status_of(found: Mapping[str, Any], secret: str = "") -> ResearchStatus:
    """Read an interaction.

    Args:
        found: as JSON.
        secret: the key that was used, which no text repeats.
    """
    said = str(found.get("status") or "")
    state = _STATES.get(said, "failed")
    if state == "in_progress":
        return ResearchStatus(state=state, model=_model(found))
    texts = _last_answer(found)
    text = visible("".join(str(item.get("text") or "") for item in texts))
    problem = _problem(found, secret)
    if state in ("completed", "incomplete") and not text.strip():
        state, problem = "failed", problem or f"no text ({visible_line(said, 40)})"
    elif state in ("failed", "incomplete"):
        problem = problem or visible_line(said.replace("_", " "), 40)
    return ResearchStatus(
        state=state,
        text=text,
        sources=list(_sources(texts)),
        usage=_usage(found.get("usage"), answered=state in ("completed", "incomplete")),
        model=_model(found),
        problem=problem,
    )


def reply_of(status: ResearchStatus) -> Reply:
    """Return the answer of a research that has ended.

    Raises:
        VrError: as `failed_research`, when it has none that is whole.
    """
    if status.state != "completed":
        raise failed_research(status)
    return Reply(
        text=status.text, model=status.model, usage=status.usage, sources=list(status.sources)
    )


def failed_research(status: ResearchStatus) -> VrError:
    """Make the error of a research without a whole answer: UNAVAILABLE, with its cost."""
    why = f": {status.problem}" if status.problem else ""
    return VrError(
        f"The research ended without a result ({status.state}{why}).",
        Code.UNAVAILABLE,
        category="RESEARCH_FAILED",
        hint="Start a new one, or ask a narrower question.",
        usage=status.usage,
        detail=status.text,
    )


def _model(found: Mapping[str, Any]) -> str:
    return visible_line(str(found.get("model") or found.get("agent") or DEEP_RESEARCH), 200)


def _last_answer(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The texts of the last answer alone: an agent says other things before it.

    An answer is one step of the model. In the API's older `outputs` it is the last text, with those
    before it that only pictures part from it.
    """
    for step in reversed(_listed(found.get("steps"))):
        texts = [item for item in _listed(step.get("content")) if _is_text(item)]
        if step.get("type") == "model_output" and texts:
            return texts
    texts = []
    parted = True
    for item in reversed(_listed(found.get("outputs"))):
        if _is_text(item) and parted:
            texts.insert(0, item)
            parted = False
        elif item.get("type") == "image":
            parted = True
        elif texts:
            break
    return texts


def _is_text(item: Mapping[str, Any]) -> bool:
    return item.get("type") == "text" and bool(item.get("text"))


def _listed(value: Any) -> list[Mapping[str, Any]]:
    return [it for it in value if isinstance(it, Mapping)] if isinstance(value, list) else []


def _sources(texts: Sequence[Mapping[str, Any]]) -> Iterator[WebSource]:
    seen: set[str] = set()
    for text in texts:
        for note in _listed(text.get("annotations")):
            url = str(note.get("url") or note.get("source") or "")
            if url.startswith(("http://", "https://")) and url not in seen:
                seen.add(url)
                yield WebSource(title=visible(str(note.get("title") or url)), url=visible(url))


def _problem(found: Mapping[str, Any], secret: str) -> str:
    """The service's own words for a failure."""
    fault = found.get("error")
    faults = _listed(found.get("errors")) or _listed([fault])
    words = [str(it.get("message") or it.get("code") or "") for it in faults]
    said = "; ".join(filter(None, words))
    said = said or (fault if isinstance(fault, str) else "")
    if secret:
        said = said.replace(secret, "[key]")
    return visible_line(said, PROBLEM_CHARS)


def _usage(found: Any, *, answered: bool) -> Usage:
    """The cost; nothing when the service does not tell that of a research without an answer."""
    counts = found if isinstance(found, Mapping) else {}

    def count(name: str) -> int:
        return int(counts.get(f"total_{name}_tokens") or 0)

    return Usage(
        calls=1 if answered or counts else 0,
        input_tokens=count("input") + count("tool_use"),
        output_tokens=count("output"),
        thinking_tokens=count("thought"),
        cached_tokens=count("cached"),
    )
