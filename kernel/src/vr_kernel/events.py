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


@dataclass(frozen=True, slots=True)
class RequestFinished:
    """End of one attempt to ask a model, or another paid service of its provider.

    Attributes:
        call_id: of the call or turn that pays; of shared work, the one that began it.
        tool: what was called.
        plugin: whose tool that is.
        principal: who called.
        workspace: for which the request was made.
        provider: the maker's name.
        model: the one that was asked, without its provider's name before it.
        role: for which it was asked; empty for a request that has none.
        purpose: `generate`, `stream`, `embed`, `cache` or `research`.
        attempt: its number, from 1; each retry is a request of its own.
        answered_by: the model that answered, as the provider names it; empty for none.
        code: of the error, None for an answer; CANCELLED for one that was given up.
        category: of the error.
        usage: what it cost, None when that is not known.
        started_at: when it was sent, in seconds since the epoch.
        duration_s: until its answer had arrived whole, or it had failed.
        trace: that of the call.
    """

    call_id: str
    tool: str
    plugin: str
    principal: str
    workspace: str
    provider: str
    model: str
    role: str
    purpose: str
    attempt: int
    answered_by: str
    code: Code | None
    category: str
    usage: Usage | None
    started_at: float
    duration_s: float
    trace: Trace
