"""The origin of a call: its caller, the id that the caller gives it, and its trace."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypedDict

from vr_kernel.errors import Code, VrError
from vr_kernel.events import Trace
from vr_kernel.questions import Asker, ask_nobody
from vr_kernel.records import is_storable

LONGEST_ID = 200
"""Characters of an id that a caller gives."""
_OURS = re.compile("[0-9a-f]{32}")
_IDS = uuid.UUID("5b0f0b0e-8f5c-5e0a-9a55-3d1c9f6b7a21")
_WITHIN: ContextVar[tuple[str, Trace] | None] = ContextVar("vr-within", default=None)
_LONGEST = {"traceparent": 256, "tracestate": 512, "baggage": 8192}
"""Characters of each field of a trace context, by the W3C's recommendations."""
_PLACE = "(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
_PARENT = re.compile(f"00-{_PLACE}|(?!00|ff)[0-9a-f]{{2}}-{_PLACE}(-.*)?")
"""A `traceparent`: ids are not all zeros, and only later versions have more at the end."""
_PRINTABLE = re.compile("[\x20-\x7e]+")


class CallOptions(TypedDict, total=False):
    """Options of a call: its caller, its id, its trace. Each key may be left out.

    `principal` is who calls, by default the user of this process; `ask` puts the questions of tools
    to that person.

    `call_id` is the caller's own id, of up to 200 characters, by which the call is found again: of
    32 hexadecimal digits it is the id of the call, of another text the call's id is made from it.
    A long call is a job of the ledger from its beginning then: with the same id again it is waited
    for, resumed, or its result returned, and nothing is paid again. For another tool, other
    arguments or another principal the id is CONFLICT. A tool that is not long runs again; its
    records get the same keys, so they replace the former ones.

    `trace_context` has `traceparent`, `tracestate` and `baggage` as a client sent them; values that
    are malformed or too long are left out.
    """

    principal: str | None
    ask: Asker
    call_id: str | None
    trace_context: Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class Origin:
    """The caller of a call, and its place. `call_id` is empty when the caller gave none."""

    principal: str
    ask: Asker = ask_nobody
    call_id: str = ""
    trace_context: Mapping[str, str] = field(default_factory=dict)


def origin_of(options: CallOptions, owner: str) -> Origin:
    """Return the origin that the options of a call say.

    Raises:
        VrError: INVALID_INPUT, category ID_INVALID, for a malformed `call_id`.
    """
    given = options.get("call_id")
    sent = options.get("trace_context")
    return Origin(
        options.get("principal") or owner,
        options.get("ask", ask_nobody),
        "" if given is None else made_id(given),
        sound_context(sent) if sent else {},
    )


def made_id(given: Any, *within: str) -> str:
    """Return the id of a call that its caller names: 32 hexadecimal digits.

    Args:
        given: the caller's id; returned as it is when it has that form.
        within: what else tells calls apart whose callers give the same id.

    Raises:
        VrError: INVALID_INPUT, category ID_INVALID, for one that is no text, empty, or too long,
            or that no store can hold.
    """
    require_name(given, "id")
    if _OURS.fullmatch(given):
        return str(given)
    return uuid.uuid5(_IDS, "\0".join((*within, given))).hex


def require_name(given: Any, what: str) -> None:
    """Check that a caller's name for something is a text that every store can hold.

    Raises:
        VrError: INVALID_INPUT, category ID_INVALID.
    """
    wrong = ""
    if not isinstance(given, str):
        wrong = f"is no text, but {type(given).__name__}"
    elif not given:
        wrong = "is empty"
    elif len(given) > LONGEST_ID:
        wrong = f"has {len(given):,} characters"
    elif "\0" in given or not is_storable(given):
        wrong = "has a NUL or half a character"
    if wrong:
        raise VrError(
            f"The {what} of the call {wrong}.",
            Code.INVALID_INPUT,
            category="ID_INVALID",
            hint=f"Give a text of 1 to {LONGEST_ID} characters.",
        )


def sound_context(sent: Any) -> dict[str, str]:
    """Return what is well-formed in a trace context; `tracestate` only with its `traceparent`."""
    if not isinstance(sent, Mapping):
        return {}
    found = {}
    for name, longest in _LONGEST.items():
        value = sent.get(name)
        if isinstance(value, str) and len(value) <= longest and _PRINTABLE.fullmatch(value):
            found[name] = value
    if not _PARENT.fullmatch(found.get("traceparent", "")):
        found.pop("traceparent", None)
        found.pop("tracestate", None)
    return found


def trace_of(call_id: str, context: Mapping[str, str]) -> Trace:
    """Return the place of a call that is made now: within another one, or on its own."""
    around = _WITHIN.get()
    if around is None:
        return Trace(context, root=call_id)
    parent, trace = around
    return Trace(context or trace.context, parent, trace.root)


class Within:
    """A block in which a call or a turn is the parent of the calls that are made."""

    __slots__ = ("_of", "_token")

    def __init__(self, call_id: str, trace: Trace) -> None:
        self._of = (call_id, trace)

    def __enter__(self) -> None:
        """Begin."""
        self._token = _WITHIN.set(self._of)

    def __exit__(self, *_: object) -> None:
        """End, also where another task closes the block."""
        try:
            _WITHIN.reset(self._token)
        except ValueError:
            return
