"""Events that plugins are told of: calls and requests to models that have finished."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vr_kernel.errors import Code
    from vr_kernel.generation import Usage

Hear = Callable[..., Awaitable[None] | None]
"""An event hook of a plugin, by its named arguments."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The place of a call among others; ids are those of calls and turns.

    Attributes:
        context: `traceparent`, `tracestate` and `baggage` as the client sent them.
        parent: within which the call was made; empty for none.
        root: the outermost of its parents, itself without any.
    """

    context: Mapping[str, str] = field(default_factory=dict)
    parent: str = ""
    root: str = ""


NO_TRACE = Trace()


@dataclass(frozen=True, slots=True)
class CallFinished:
    """End of a call of a tool, or of a turn. Its records are in the journal by now.

    Attributes:
        call_id: of the call, and of its job when it has one.
        tool: what was called; the name of a turn.
        plugin: whose tool that is.
        principal: who called.
        workspace: to which the records belong.
        ok: whether there is a result.
        code: of the error, None with a result; CANCELLED for a call that was cancelled.
        records: how many were recorded.
        deletions: how many were deleted.
        cached: whether the result says that it came from the cache.
        usage: what was paid to language models, None for nothing.
        duration_s: from the beginning of the call to its end; of a resumed job, of its last run.
        started_at: when it began, in seconds since the epoch; of a resumed job, its last run.
        run: of a job, how many processes began it; more than 1 says that it was resumed.
        trace: where the call was made, and the trace context of its client.
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
    started_at: float = 0.0
    run: int = 1
    trace: Trace = NO_TRACE
