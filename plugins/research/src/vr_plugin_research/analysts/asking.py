"""Questions to a language model: each answer is kept by all that it depends on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel
from vr_kernel import Call, ThinkingLevel, Usage, cache_key

from vr_plugin_research.instructions.task import Task

M = TypeVar("M", bound=BaseModel)


class Answered(BaseModel, Generic[M]):
    """An answer as it is kept, and the model that gave it."""

    value: M
    model: str


class Asking:
    """Puts tasks to models, on behalf of one call.

    An answer is committed as it arrives and kept in the cache: neither a crash nor another piece of
    research that asks the same pays for it again.

    Args:
        call: that pays.
        thinking: how hard to think.
        at_once: questions that may be under way at the same time are the caller's to bound.
    """

    def __init__(self, call: Call, thinking: ThinkingLevel | None = None) -> None:
        self._call = call
        self._thinking = thinking
        self.models: dict[str, None] = {}

    async def ask(self, task: Task[M], parts: Sequence[str], **named: Any) -> M:
        """Return a model's answer to a task.

        Args:
            task: what it shall do.
            parts: what it is given, the instruction last.
            named: what else tells this question from others.

        Raises:
            VrError: what the model raises.
        """
        models = self._call.services.models
        key = cache_key(
            research=task.name,
            version=task.version,
            parts=list(parts),
            answers=models.identity(task.role, thinking=self._thinking),
            **named,
        )

        kept = cast("type[Answered[M]]", Answered.__class_getitem__(task.answer))

        async def produce(shared: Call) -> Answered[M]:
            found = await shared.services.models.generate_structured(
                list(parts),
                task.answer,
                role=task.role,
                system=task.system,
                thinking=self._thinking,
            )
            return kept(value=found.value, model=found.reply.model)

        async with self._call.part(f"{task.name}/{key}") as part:
            answer = await part.once(key, kept, produce)
            await self._remember_price(part, f"{task.name}/{key}")
        self.models[answer.model] = None
        return answer.value

    async def _remember_price(self, part: Call, name: str) -> None:
        """Commit what an answer cost: a job that is resumed finds the answer in the cache."""

        async def price() -> dict[str, Any]:
            return part.usage.model_dump()

        part.restore_usage(Usage.model_validate(await self._call.step(f"price/{name}", price)))
