"""A task for a language model: its name, version, instruction, and the form of its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel
from vr_kernel import Role

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Task(Generic[M]):
    """A task that a model is given.

    Args:
        name: of the task; with the version a part of the key under which answers are kept.
        version: raised when earlier answers do not suffice any more; not for better wording alone.
        role: the use of the model.
        system: the standing instruction.
        answer: the form of the answer.
    """

    name: str
    version: int
    role: Role
    system: str
    answer: type[M]
