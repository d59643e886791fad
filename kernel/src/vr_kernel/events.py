"""Events that plugins are told of: a call that has finished."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vr_kernel.errors import Code
    from vr_kernel.generation import Usage

Hear = Callable[..., Awaitable[None] | None]
"""An event hook of a plugin, by its named arguments."""


@dataclass(frozen=True, slots=True)
class CallFinished:
    """End of a call of a tool. Its records are in the journal by now.

    Attributes:
        call_id: of the call, and of its job when it has one.
        tool: what was called.
        plugin: whose tool that is.
        principal: who called.
        workspace: to which the records belong.
        ok: whether there is a result.
        code: of the error, None with a result.
        records: how many were recorded.
        deletions: how many were deleted.
        cached: whether the result says that it came from the cache.
        usage: what was paid to language models, None for nothing.
        duration_s: from the beginning of the call to its end; of a resumed job, of its last run.
    """

    call_id: str
    tool: str
    plugin: str
    principal: str
    workspace: str
    ok: bool
    code: Code | None
    records: int
    deletions: int
    cached: bool
    usage: Usage | None
    duration_s: float
