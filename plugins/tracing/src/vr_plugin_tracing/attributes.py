"""Attributes of spans and metrics: what is said of calls and requests, and nothing of content."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from vr_plugin_tracing import names

if TYPE_CHECKING:
    from vr_kernel import CallFinished, RequestFinished, Usage

    from vr_plugin_tracing.settings import Names

Attributes = dict[str, str | int | float | bool]


def call_identity(event: CallFinished, *, turn: bool) -> Attributes:
    """Return what a call or a turn is, for spans and metrics alike."""
    if turn:
        kept: Attributes = {
            names.OPERATION: names.INVOKE_WORKFLOW,
            names.WORKFLOW: event.tool,
        }
    else:
        kept = {names.OPERATION: names.EXECUTE_TOOL, names.TOOL: event.tool}
        if not event.trace.parent:
            kept[names.METHOD] = names.CALL_TOOL
    if not event.ok:
        kept[names.ERROR] = event.code.value if event.code else "_OTHER"
    return kept


def call_attributes(event: CallFinished, shown: Names, *, turn: bool) -> Attributes:
    """Return the attributes of the span of a call."""
    return {
        **call_identity(event, turn=turn),
        names.CALL: event.call_id,
        names.PLUGIN: event.plugin,
        names.CACHED: event.cached,
        names.RECORDS: event.records,
        names.DELETIONS: event.deletions,
        names.RUN: event.run,
        **_totals(event.usage),
        **_people(event.principal, event.workspace, shown),
    }


def request_identity(event: RequestFinished) -> Attributes:
    """Return what a request is, for spans and metrics alike."""
    kept: Attributes = {
        names.OPERATION: names.operation_of(event.provider, event.purpose),
        names.PROVIDER: names.provider_of(event.provider),
        names.REQUEST_MODEL: event.model,
    }
    if event.answered_by:
        kept[names.RESPONSE_MODEL] = event.answered_by
    return kept


def request_attributes(event: RequestFinished, shown: Names) -> Attributes:
    """Return the attributes of the span of a request."""
    kept: Attributes = {
        **request_identity(event),
        names.CALL: event.call_id,
        names.PLUGIN: event.plugin,
        names.CALLED_FROM: event.tool,
        names.PURPOSE: event.purpose,
        names.ATTEMPT: event.attempt,
        **_tokens(event.usage),
        **_people(event.principal, event.workspace, shown),
    }
    if event.role:
        kept[names.ROLE] = event.role
    if event.purpose == "stream":
        kept[names.REQUEST_STREAM] = True
    if event.code is not None:
        kept[names.ERROR] = event.code.value
        kept[names.CATEGORY] = event.category
    return kept


def token_counts(usage: Usage) -> dict[str, int]:
    """Return the billed tokens by their type; thinking is output."""
    return {"input": usage.input_tokens, "output": usage.output_tokens + usage.thinking_tokens}


def _tokens(usage: Usage | None) -> Attributes:
    """Tokens of a request, by the names that other programs add up."""
    if usage is None:
        return {}
    billed = token_counts(usage)
    kept: Attributes = {names.INPUT_TOKENS: billed["input"], names.OUTPUT_TOKENS: billed["output"]}
    if usage.cached_tokens:
        kept[names.CACHED_TOKENS] = usage.cached_tokens
    if usage.thinking_tokens:
        kept[names.THINKING_TOKENS] = usage.thinking_tokens
    return kept | _cost(usage)


def _totals(usage: Usage | None) -> Attributes:
    """Sums of the requests of a call, by names of ours, so that nobody counts them twice."""
    if usage is None:
        return {}
    billed = token_counts(usage)
    kept: Attributes = {names.TOTAL_INPUT: billed["input"], names.TOTAL_OUTPUT: billed["output"]}
    return {**kept, names.REQUESTS: usage.calls, **_cost(usage)}


def _cost(usage: Usage) -> Attributes:
    return {} if usage.cost_usd is None else {names.COST: usage.cost_usd}


def _people(principal: str, workspace: str, shown: Names) -> Attributes:
    """Caller and place; a workspace often has its principal's name, so one rule holds."""
    if shown == "plain":
        return {names.PERSON: principal, names.WORKSPACE: workspace}
    if shown == "hash":
        return {names.PERSON_HASH: _hash(principal), names.WORKSPACE_HASH: _hash(workspace)}
    return {}


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
