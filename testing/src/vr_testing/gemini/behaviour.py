"""Behaviour of the fake service: every value may be changed while it runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(eq=False)
class Behaviour:
    """The behaviour of the service when nothing goes wrong.

    Args:
        latency: seconds that a model takes for each answer.
        pause: seconds between two events of a stream.
        keys: the valid keys; any key is valid when left out.
        models: the models that exist; every model does when left out.
        own_files_only: whether files and caches are visible only to the key that made them.
        file_polls: how often a new file is still PROCESSING when it is asked for.
        background_polls: how often a background interaction is unfinished when asked for.
        min_cache_tokens: the least tokens that a context cache may have.
        processing_fails: whether new files end as FAILED.
        dimension: how long vectors are when no dimension is asked for.
        signs_calls: whether calls are signed, and refused without their signature, as by Gemini 3.
    """

    latency: float = 0.0
    pause: float = 0.0
    keys: set[str] | None = None
    models: set[str] | None = None
    own_files_only: bool = False
    file_polls: int = 0
    background_polls: int = 1
    min_cache_tokens: int = 0
    processing_fails: bool = False
    dimension: int = 3072
    signs_calls: bool = True
