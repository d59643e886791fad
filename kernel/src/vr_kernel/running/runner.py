"""One call from arguments to outcome: the only place where an error becomes an outcome."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from vr_kernel.call import Call
from vr_kernel.calls.commit import commit, dump, keep_artifact, settle
from vr_kernel.calls.context import Context
from vr_kernel.calls.produced import Produced
from vr_kernel.content import Content
from vr_kernel.errors import QUOTA_RETRY_S, Code, VrError
from vr_kernel.events import Trace
from vr_kernel.generation import Usage
from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.jobs.completion import complete
from vr_kernel.jobs.lease import Lease
from vr_kernel.jobs.scopes import Scope
from vr_kernel.models.usage import Meter
from vr_kernel.progress import Report
from vr_kernel.questions import AnswerNeeded, Question
from vr_kernel.running.listeners import Listeners, finished
from vr_kernel.running.origins import Origin, Within, trace_of
from vr_kernel.state.jobs import job_scope
from vr_kernel.text.bounds import bounded
from vr_kernel.text.visible_text import all_visible, result_text
from vr_kernel.tools import Tool

Hold = Callable[[], Awaitable[Lease | None]]
RESULT_TOKENS = 10_000
"""Longest result as JSON, in tokens."""
MOST_A_CHARACTER = 3
"""Maximum tokens per character; a result that is short even at this rate needs no estimate."""
COUNTED_CHARS = 200_000
"""Characters after which any text has more than `RESULT_TOKENS`."""
HUGE_CHARS = 5_000_000
"""Characters of a result that may block the loop for a second while it is written."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a call: a result, with its JSON form, an error, or a question; only one of them.

    With a question the call has done nothing, and must be made again with the answer.
    """

    call_id: str
    result: BaseModel | None = None
    data: dict[str, Any] = field(default_factory=dict)
    error: VrError | None = None
    notes: tuple[str, ...] = ()
    usage: Usage | None = None
    attachments: tuple[Content, ...] = ()
    question: Question | None = None


def begin(
    tool: Tool,
    context: Context,
    report: Report,
    origin: Origin,
    *,
    trace: Trace | None = None,
    hold: Hold | None = None,
) -> Produced:
    """Return the work of a call that has not begun yet.

    Args:
        tool: what is called.
        context: the services of the tool's plugin.
        report: takes progress.
        origin: who calls, and whose services the call gets.
        trace: where it is made; here and now when left out.
        hold: makes the call a job of the ledger at its first payment; only for long tools.
    """
    call_id = origin.call_id or uuid.uuid4().hex
    context = context.of_principal(origin.principal)
    notes: list[str] = []
    scope = None
    if hold is not None:
        scope = Scope(context.steps, job_scope(call_id), tool.steps_version, hold, notes.append)
    meter = Meter(
        call_id=call_id,
        tool=tool.name,
        plugin=tool.plugin,
        principal=origin.principal,
        workspace=context.workspace,
        trace=trace or trace_of(call_id, origin.trace_context),
    )
    return Produced(
        id=call_id,
        tool=tool.name,
        context=context.of_call(meter, scope),
        principal=origin.principal,
        report=report,
        meter=meter,
        scope=scope,
        steps_version=tool.steps_version,
        notes=notes,
        asker=origin.ask,
    )


async def run(
    tool: Tool,
    arguments: Mapping[str, Any],
    produced: Produced,
    listeners: Listeners | None = None,
    has_ended: Callable[[], bool] = lambda: True,
) -> Outcome:
    """Validate, call, journal, tell the listeners.

    Cancellation passes through and leaves no result, except shared work that others use; listeners
    are told of it in the background. They are not told of a call that asks a question: it has not
    ended.

    Args:
        tool: what is called.
        arguments: by name, as JSON values.
        produced: from `begin`.
        listeners: called when the call has ended.
        has_ended: checks if a cancellation ends the call, which may else be resumed.
    """
    recorder = produced.context.models.recorder
    try:
        with Within(produced.id, produced.meter.trace):
            outcome = await _ended(tool, arguments, produced)
    except asyncio.CancelledError as error:
        if listeners and has_ended():
            listeners.tell_soon(finished(produced, error))
        raise
    finally:
        if recorder.writing or not produced.is_empty:
            await complete(settle_all(produced))
    if held := recorder.held():
        outcome = replace(outcome, notes=(*outcome.notes, *_told([held], produced.context)))
    if listeners and outcome.question is None:
        cached = outcome.data.get("cached") is True
        await listeners.tell(finished(produced, outcome.error, cached=cached))
    return outcome


async def settle_all(produced: Produced) -> None:
    """Commit shared work of a call, release its leases, and write what it paid."""
    await settle(produced)
    await produced.context.models.recorder.settle()


async def _ended(tool: Tool, arguments: Mapping[str, Any], produced: Produced) -> Outcome:
    context = produced.context
    try:
        with PluginCode():
            return await _succeed(tool, produced, tool.validate(_located(arguments, context)))
    except AnswerNeeded as needed:
        return Outcome(produced.id, question=needed.question)
    except Exception as error:
        if isinstance(error, VrError):
            with suppress(Exception):  # a plugin's own error class may be faulty
                return _refused(error, produced)
        context.log.exception("call crashed", tool=tool.name, call_id=produced.id)
        return Outcome(produced.id, error=_crashed(tool, produced))


def _refused(error: VrError, produced: Produced) -> Outcome:
    if produced.meter.usage.calls:
        error.usage = produced.meter.usage
    clean = _clean(error, produced.context)
    dump(clean.as_dict(produced.id))  # fails if no client can read it
    log = produced.context.log
    log.info("call failed", tool=produced.tool, call_id=produced.id, code=error.code.value)
    return Outcome(produced.id, error=clean, usage=error.usage)


def _clean(error: VrError, context: Context) -> VrError:
    """Return the error as callers get it: without secrets."""
    if not context.identity.is_owner:
        from vr_kernel.running.untold import told_to_others

        error = told_to_others(error, context.paths, context.artifacts)
    error.message, error.hint = _told([error.message, error.hint], context)
    error.args = (error.message,)
    if error.code is Code.QUOTA and error.retryable and error.retry_after is None:
        error.retry_after = QUOTA_RETRY_S
    return error


async def _succeed(tool: Tool, produced: Produced, arguments: dict[str, Any]) -> Outcome:
    result = await PluginCode.apart(tool.function, Call(produced), **arguments)
    if not isinstance(result, tool.result):
        raise TypeError(f"{tool.name} returned {type(result).__name__}")
    usage = produced.meter.usage if produced.meter.usage.calls else None
    if usage is not None and "usage" in tool.result.model_fields:
        result = result.model_copy(update={"usage": usage})
    produced.notes.extend(produced.meter.notes)
    data = all_visible(_addressed(result.model_dump(mode="json"), produced.context), result_text)
    text = dump(data)  # fails if no client can read it, before anything is recorded
    if not produced.is_empty:  # a separate task costs as much as everything else here
        await complete(commit(produced))
    _require_fitting(tool, produced, text)
    notes = tuple(dict.fromkeys(_told(produced.notes, produced.context)))
    attachments = tuple(produced.attachments)
    return Outcome(produced.id, result, data, notes=notes, usage=usage, attachments=attachments)


def _told(texts: Iterable[str], context: Context) -> list[str]:
    """Messages as callers get them: without secrets, and of limited length."""

    def clean(text: str) -> str:
        return context.log.clean(_addressed(text, context))

    return [bounded(text, clean=clean) for text in texts]


def _addressed(data: Any, context: Context) -> Any:
    """The data as the caller gets it: only the owner sees paths on this machine."""
    if context.identity.is_owner:
        return data
    from vr_kernel.running.untold import without_machine

    return without_machine(context.artifacts.addressed(data), context.paths)


def _located(arguments: Mapping[str, Any], context: Context) -> Mapping[str, Any]:
    """The arguments with paths instead of the addresses that other callers were given."""
    if context.identity.is_owner:
        return arguments
    located: Mapping[str, Any] = context.artifacts.located(arguments)
    return located


def _require_fitting(tool: Tool, produced: Produced, text: str) -> None:
    if len(text) * MOST_A_CHARACTER <= RESULT_TOKENS:
        return
    from vr_kernel.text.tokens import estimate_tokens

    if len(text) <= COUNTED_CHARS and estimate_tokens(text) <= RESULT_TOKENS:
        return
    if len(text) > HUGE_CHARS:
        produced.context.log.warning(
            "a plugin's large result held up the server, nobody else was answered meanwhile",
            plugin=tool.plugin,
            tool=tool.name,
            characters=len(text),
        )
    told = (
        f"The result of {tool.name} has {len(text):,} characters,"
        f" more than the {RESULT_TOKENS:,} tokens that a client takes."
    )
    try:
        whole = keep_artifact(produced, text.encode(), "application/json")
    except VrError as error:
        raise _unfiled(error, told, produced.meter) from error
    raise VrError(
        told,
        Code.TOO_LARGE,
        hint=f"The whole result is kept as {whole.uri} ({whole.path}). Ask for less at a time.",
    )


def _unfiled(error: VrError, told: str, meter: Meter) -> VrError:
    """The error of a result that is too long for a client and cannot be kept as a file."""
    again = "Then make the same call again."
    if meter.usage.calls > meter.kept_calls:
        again += " It pays for answers again."
    elif meter.usage.calls:
        again += " It costs nothing: the answers are kept."
    hint = f"{error.hint} {again}".strip()
    message = f"{told} No file takes it, either. {error.message}"
    return VrError(message, error.code, category=error.category, hint=hint, retryable=True)


def _crashed(tool: Tool, produced: Produced) -> VrError:
    return VrError(
        f"{tool.name} of plugin {tool.plugin} failed unexpectedly.",
        Code.INTERNAL,
        category="UNKNOWN",
        hint=f"The server's log has the details under call {produced.id}. Report it to the plugin.",
    )
