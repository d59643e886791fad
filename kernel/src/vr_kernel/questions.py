"""Questions that a tool asks the person who called it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ValidationError

from vr_kernel.errors import Code, VrError
from vr_kernel.isolation.plugin_code import PassedOn

Action = Literal["accept", "decline", "cancel", "unable"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the model of its answer: text, numbers, yes or no, choices."""

    text: str
    answer: type[BaseModel]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer that came back; `unable` when no one could be asked."""

    action: Action
    content: dict[str, Any] = field(default_factory=dict)


class Asker(Protocol):
    """Puts questions to the person who called."""

    async def __call__(self, question: Question, *, paid: bool) -> Answer:
        """Ask and wait; `paid` when the call has done work that must not be done again.

        Raises:
            AnswerNeeded: when the answer comes with another call of the tool.
        """
        ...


class AnswerNeeded(PassedOn):
    """Ends a call that must be made again with the answer; tools must not catch it."""

    def __init__(self, question: Question) -> None:
        super().__init__(question.text)
        self.question = question


async def ask_nobody(question: Question, *, paid: bool) -> Answer:
    """The asker for calls without a person to ask."""
    del question, paid
    return Answer("unable")


def understand(question: Question, answer: Answer) -> BaseModel | None:
    """The model of an answer; None when no one could be asked.

    Raises:
        VrError: CANCELLED, category DECLINED, when the person would not answer;
            INVALID_INPUT, category ANSWER_INVALID, when the answer does not fit.
    """
    if answer.action == "unable":
        return None
    if answer.action != "accept":
        raise VrError(
            "The question was not answered.",
            Code.CANCELLED,
            category="DECLINED",
            hint=f"It was: {question.text}",
        )
    try:
        return question.answer.model_validate(answer.content)
    except ValidationError as error:
        names = sorted({str(item["loc"][0]) for item in error.errors() if item["loc"]})
        raise VrError(
            f"The answer does not fit the question: {', '.join(names) or 'it is no object'}.",
            Code.INVALID_INPUT,
            category="ANSWER_INVALID",
            hint=f"The question was: {question.text}",
        ) from None
