"""One call from arguments to outcome: the only place where an error becomes a result."""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from vr_kernel.call import Call, ProgressReport
from vr_kernel.content import Content
from vr_kernel.errors import QUOTA_RETRY_S, Code, VrError
from vr_kernel.events import CallFinished
from vr_kernel.generation import Usage
from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.jobs.leases import Lease
from vr_kernel.jobs.ledger import complete, job_scope
from vr_kernel.jobs.scopes import Scope
from vr_kernel.models.usage import Meter
from vr_kernel.questions import AnswerNeeded, Asker, Question, ask_nobody
from vr_kernel.running.commit import commit, dump, leaves_nothing, settle
from vr_kernel.running.listeners import Listeners
from vr_kernel.services import Services
from vr_kernel.text.bounds import bounded
from vr_kernel.text.visible_text import all_visible, result_text
from vr_kernel.tools import Tool

Hold = Callable[[], Awaitable[Lease | None]]
RESULT_TOKENS = 10_000
"""Longest result, as JSON."""
MOST_A_CHARACTER = 3
"""Tokens of a character; a result that is short even so needs no estimate."""
COUNTED_CHARS = 200_000
"""Enough of any text for more than `RESULT_TOKENS`."""
HUGE_CHARS = 5_000_000
"""Of a result that may hold up the loop for a second while it is made visible, and written."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended: a result, with its JSON form, an error, or a question; only one of them.

    With a question the call has done nothing, and is to be made again with the answer.
    """

    call_id: str
    result: BaseModel | None = None
    data: dict[str, Any] = field(default_factory=dict)
    error: VrError | None = None
    notes: tuple[str, ...] = ()
    usage: Usage | None = None
    shown: tuple[Content, ...] = ()
    question: Question | None = None


def begin(
    tool: Tool,
    services: Services,
    principal: str,
    report: ProgressReport,
    *,
    call_id: str = "",
    hold: Hold | None = None,
    ask: Asker = ask_nobody,
) -> Call:
    """A call that has not begun yet.

    Args:
        tool: what is called.
        services: of the tool's plugin.
        principal: who calls, and whose services the call gets.
        report: takes progress.
        call_id: of a call that is done again; a new one when left out.
        hold: makes the call a job of the ledger when it first pays; only for long tools.
        ask: the way to the person who calls.
    """
    call_id = call_id or uuid.uuid4().hex
    services = services.of_principal(principal)
    notes: list[str] = []
    scope = None
    if hold is not None:
        scope = Scope(
            services.jobs.steps, job_scope(call_id), tool.steps_version, hold, notes.append
        )
    meter = Meter(call_id=call_id, tool=tool.name, plugin=tool.plugin, principal=principal)
    return Call(
        id=call_id,
        tool=tool.name,
        services=services.of_call(meter, scope),
        principal=principal,
        log=services.log,
        report=report,
        meter=meter,
        scope=scope,
        steps_version=tool.steps_version,
        notes=notes,
        asker=ask,
    )


async def run(
    tool: Tool, arguments: Mapping[str, Any], call: Call, listeners: Listeners | None = None
) -> Outcome:
    """Validate, call, journal, tell the listeners.

    Cancellation passes through and leaves no result behind, but what others have of shared
    work. Nobody hears of a call that was cancelled, or that asks a question: it has not ended.
    """
    begun = time.monotonic()
    try:
        outcome = await _ended(tool, arguments, call)
    finally:
        if call.services.models.recorder.writing or not leaves_nothing(call):
            await complete(_settle(call))
    if held := call.services.models.recorder.held():
        outcome = replace(outcome, notes=(*outcome.notes, *_told([held], call.services)))
    if listeners and outcome.question is None:
        await listeners.tell(_event(call, outcome, time.monotonic() - begun))
    return outcome


async def _settle(call: Call) -> None:
    await settle(call)
    await call.services.models.recorder.settle()


def _event(call: Call, outcome: Outcome, duration_s: float) -> CallFinished:
    ok = outcome.error is None
    return CallFinished(
        call_id=call.id,
        tool=call.tool,
        plugin=call.meter.plugin,
        principal=call.principal,
        workspace=call.workspace,
        ok=ok,
        code=outcome.error.code if outcome.error is not None else None,
        records=call.recorded + (len(call.records) if ok else 0),
        forgotten=len(call.forgotten) if ok else 0,
        cached=outcome.data.get("cached") is True,
        usage=outcome.usage,
        duration_s=duration_s,
    )


async def _ended(tool: Tool, arguments: Mapping[str, Any], call: Call) -> Outcome:
    services = call.services
    try:
        with PluginCode():
            return await _succeed(tool, call, tool.validate(_located(arguments, services)))
    except AnswerNeeded as needed:
        return Outcome(call.id, question=needed.question)
    except Exception as error:
        if isinstance(error, VrError):
            with suppress(Exception):  # a class of the plugin's own need not be whole
                return _refused(error, call)
        services.log.exception("call crashed", tool=tool.name, call_id=call.id)
        return Outcome(call.id, error=_crashed(tool, call))


def _refused(error: VrError, call: Call) -> Outcome:
    if call.meter.usage.calls:
        error.usage = call.meter.usage
    clean = _clean(error, call.services)
    dump(clean.as_dict(call.id))  # what no client can read fails here
    call.services.log.info("call failed", tool=call.tool, call_id=call.id, code=error.code.value)
    return Outcome(call.id, error=clean, usage=error.usage)


def _clean(error: VrError, services: Services) -> VrError:
    """The error as callers get it: without the secrets that somebody repeats in it."""
    if not services.identity.is_owner:
        from vr_kernel.running.untold import told_to_others

        error = told_to_others(error, services.paths, services.artifacts)
    error.message, error.hint = _told([error.message, error.hint], services)
    error.args = (error.message,)
    if error.code is Code.QUOTA and error.retryable and error.retry_after is None:
        error.retry_after = QUOTA_RETRY_S
    return error


async def _succeed(tool: Tool, call: Call, arguments: dict[str, Any]) -> Outcome:
    result = await PluginCode.apart(tool.function, call, **arguments)
    if not isinstance(result, tool.result):
        raise TypeError(f"{tool.name} returned {type(result).__name__}")
    usage = call.meter.usage if call.meter.usage.calls else None
    if usage is not None and "usage" in tool.result.model_fields:
        result = result.model_copy(update={"usage": usage})
    call.notes.extend(call.meter.notes)
    data = all_visible(_addressed(result.model_dump(mode="json"), call.services), result_text)
    text = dump(data)  # what no client can read fails here, before anything is recorded
    if not leaves_nothing(call):  # a task of its own costs as much as all else here
        await complete(commit(call))
    _require_fitting(tool, call, text)
    notes = tuple(dict.fromkeys(_told(call.notes, call.services)))
    shown = tuple(call.shown)
    return Outcome(call.id, result, data, notes=notes, usage=usage, shown=shown)


def _told(texts: Iterable[str], services: Services) -> list[str]:
    """Messages as callers get them: without secrets, each of a length that can be read."""

    def clean(text: str) -> str:
        return services.log.clean(_addressed(text, services))

    return [bounded(text, clean=clean) for text in texts]


def _addressed(data: Any, services: Services) -> Any:
    """The data as who calls gets it: where files lie on this machine is the owner's to know."""
    if services.identity.is_owner:
        return data
    from vr_kernel.running.untold import without_machine

    return without_machine(services.artifacts.addressed(data), services.paths)


def _located(arguments: Mapping[str, Any], services: Services) -> Mapping[str, Any]:
    """The arguments with paths: what others were given as an address they may give back."""
    if services.identity.is_owner:
        return arguments
    located: Mapping[str, Any] = services.artifacts.located(arguments)
    return located


def _require_fitting(tool: Tool, call: Call, text: str) -> None:
    if len(text) * MOST_A_CHARACTER <= RESULT_TOKENS:
        return
    from vr_kernel.text.tokens import estimate_tokens

    if len(text) <= COUNTED_CHARS and estimate_tokens(text) <= RESULT_TOKENS:
        return
    if len(text) > HUGE_CHARS:
        call.log.warning(
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
        whole = call.artifact(text.encode(), "application/json")
    except VrError as error:
        raise _unfiled(error, told, call.meter) from error
    raise VrError(
        told,
        Code.TOO_LARGE,
        hint=f"The whole result is kept as {whole.uri} ({whole.path}). Ask for less at a time.",
    )


def _unfiled(error: VrError, told: str, meter: Meter) -> VrError:
    """The error of a result for which there is neither a client nor a file."""
    again = "Then make the same call again."
    if meter.usage.calls > meter.kept_calls:
        again += " It pays for answers again."
    elif meter.usage.calls:
        again += " It costs nothing: the answers are kept."
    hint = f"{error.hint} {again}".strip()
    message = f"{told} No file takes it, either. {error.message}"
    return VrError(message, error.code, category=error.category, hint=hint, retryable=True)


def _crashed(tool: Tool, call: Call) -> VrError:
    return VrError(
        f"{tool.name} of plugin {tool.plugin} failed unexpectedly.",
        Code.INTERNAL,
        category="UNKNOWN",
        hint=f"The server's log has the details under call {call.id}. Report it to the plugin.",
    )
