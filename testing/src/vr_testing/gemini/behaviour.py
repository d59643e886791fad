"""Behaviour of the fake service: every value may be changed while it runs."""

from __future__ import annotations

from dataclasses import dataclass

from vr_testing.service.behaviour import ServiceBehaviour


@dataclass(eq=False)
class Behaviour(ServiceBehaviour):
    """The behaviour of the service when nothing goes wrong; see `ServiceBehaviour`, too.

    Args:
        own_files_only: whether files, caches and interactions are visible only to their key.
        file_polls: how often a new file is still PROCESSING when it is asked for.
        background_polls: how often a background interaction is unfinished when asked for.
        background_ends: the status in which it ends, such as `failed` or `incomplete`.
        background_problem: the reason that it names when it is not `completed`.
        background_drafts: texts that it says before its answer.
        min_cache_tokens: the least tokens that a context cache may have.
        processing_fails: whether new files end as FAILED.
        signs_calls: whether calls are signed, and refused without their signature, as by Gemini 3.
    """

    own_files_only: bool = False
    file_polls: int = 0
    background_polls: int = 1
    background_ends: str = "completed"
    background_problem: str = ""
    background_drafts: tuple[str, ...] = ()
    min_cache_tokens: int = 0
    processing_fails: bool = False
    signs_calls: bool = True
