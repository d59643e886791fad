"""Completes ids of which a person typed only the beginning."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from vr_kernel import READ_ONLY, Code, Effects, Kernel, Tool, VrError

from vr_cli.index import command_of

SHORTEST = 4
"""Fewest characters that are taken for the beginning of an id."""
WHOLE = 32
"""Characters of an id, where there is none to tell it from."""
SHOWN = 5
RECORD, KIND = "object_id", "collection"
"""Arguments that name a record of the journal, and its kind."""


def parted(kernel: Kernel, placed: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by position, a record that is typed as `Kind/key` as both."""
    given = dict(placed)
    kind, slash, key = str(given.get(RECORD) or "").partition("/")
    other = given.get(KIND) or options.get(KIND)
    known = kind in kernel.services.archive.kinds
    if KIND in given and slash and key and known and other in (None, kind):
        given[RECORD] = key
        if other is None:
            given[KIND] = kind
    return given


async def whole_ids(kernel: Kernel, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with ids in full where a beginning was given that only one id has.

    The known ids come from the tool of the same domain that lists them, such as `job_list` for
    `job_id`. The known keys of records come from the journal; a key that matches none of them is
    kept as it is, since a store may hold more.

    Raises:
        VrError: INVALID_INPUT when several ids begin so (the hint names them) or when too few
            characters were given; NOT_FOUND when no id begins so.
    """
    given = dict(arguments)
    for name, value in arguments.items():
        one = name.removesuffix("s")
        if one == RECORD and isinstance(value, (list, tuple)):
            known = await _known(kernel, (), one, arguments)
            given[name] = [_whole(one, str(each), known, ()) for each in value]
        elif name.endswith("_id") and isinstance(value, str):
            listers = [
                each
                for each in kernel.tools.values()
                if each.domain == tool.domain and name != RECORD and _lists(each, name)
            ]
            known = await _known(kernel, listers, name, arguments)
            given[name] = _whole(name, value, known, listers)
    return given


def _whole(name: str, value: str, known: Sequence[str], listers: Sequence[Tool]) -> str:
    """The only known id that begins so; a value as long as a whole id stays as it is."""
    long_enough = len(value) >= SHORTEST
    fitting = sorted({each for each in known if each.startswith(value.lower()) and long_enough})
    if value in known:
        return value
    if len(fitting) > 1:
        raise _ambiguous(name, value, fitting)
    if not fitting and listers and len(value) < min(map(len, known), default=WHOLE):
        raise _unknown(name, value, listers[0])
    return fitting[0] if fitting else value


async def _known(
    kernel: Kernel, listers: Sequence[Tool], name: str, arguments: Mapping[str, Any]
) -> list[str]:
    found: list[str] = []
    if name == RECORD:
        kind, workspace = arguments.get(KIND), kernel.config.store.workspace
        for each in [str(kind)] if kind else list(kernel.services.archive.kinds):
            found += await kernel.services.journal.keys(
                each, arguments.get("workspace") or workspace
            )
        return found
    for lister in listers:
        limit = lister.input_schema["properties"].get("limit", {}).get("maximum")
        outcome = await kernel.run(lister.name, {"limit": limit} if limit else {})
        if outcome.error is not None:
            raise outcome.error
        found += _values(outcome.data, name)
    return found


def _lists(tool: Tool, name: str) -> bool:
    """True when a tool only reads, needs nothing, and lists things with such an id."""
    verb = tool.name.partition("_")[2]
    quiet = READ_ONLY in tool.effects and Effects.CALLS_OUT not in tool.effects
    needs = tool.input_schema.get("required")
    return (
        verb.startswith("list")
        and quiet
        and not needs
        and f'"{name}"' in json.dumps(tool.output_schema)
    )


def _values(data: Mapping[str, Any], name: str) -> list[str]:
    rows = [row for value in data.values() if isinstance(value, list) for row in value]
    return [str(row[name]) for row in rows if isinstance(row, Mapping) and row.get(name)]


def _unknown(name: str, value: str, lister: Tool) -> VrError:
    listed = f"`{command_of(lister)}` lists what there is."
    if len(value) < SHORTEST:
        return VrError(
            f"{value!r} is too short for an id.",
            Code.INVALID_INPUT,
            category="ID_TOO_SHORT",
            hint=f"Give at least {SHORTEST} characters of it. {listed}",
        )
    noun = name.removesuffix("_id").replace("_", " ")
    return VrError(
        f"No {noun} begins with {value!r}.", Code.NOT_FOUND, category="ID_UNKNOWN", hint=listed
    )


def _ambiguous(name: str, value: str, fitting: list[str]) -> VrError:
    more = f", and {len(fitting) - SHOWN} more" if len(fitting) > SHOWN else ""
    return VrError(
        f"{value} is the beginning of {len(fitting)} ids ({name}).",
        Code.INVALID_INPUT,
        category="ID_AMBIGUOUS",
        hint=f"Give more of it: {', '.join(fitting[:SHOWN])}{more}.",
    )
