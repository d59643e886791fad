"""Lists of the sources that are known, and of the records of a kind."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from vr_kernel import Code, Kernel, Source, View, VrError, did_you_mean
from vr_kernel.views import (
    Cell,
    Link,
    Prose,
    Records,
    Table,
    is_web,
    item_of,
    shown_host,
    titled,
)

from vr_cli.index import kinds_of_domains
from vr_cli.showing.latest import latest_records, stored
from vr_cli.showing.subjects import ID_CHARS, all_sources, title_of_source

DAY = len("2030-01-31")
Listed = tuple[View, dict[str, Any]]
"""A view, and the JSON of it."""


async def list_sources(
    kernel: Kernel, kinds: Collection[str], limit: int, after: int | None, again: str
) -> Listed:
    """List sources as a table, the last changed first.

    Args:
        kernel: whose journal is read.
        kinds: only sources with records of these; all when there are none.
        limit: most sources.
        after: the number of the last one that was seen.
        again: the command that lists them, to which `--after` is added.
    """
    found: list[Source] = []
    async for each in all_sources(kernel):
        if (after is None or each.seq < after) and (not kinds or {*kinds} & {*each.kinds}):
            found.append(each)
        if len(found) > limit:
            break
    shown, more = found[:limit], len(found) > limit
    data = {
        "sources": [_source_data(each) for each in shown],
        "next": shown[-1].seq if more else None,
    }
    others = "" if after or more else await _without_source(kernel, kinds)
    if not shown:
        return View("Sources", [Prose(others or "Nothing is known yet.")]), data
    rows = [_source_row(each) for each in shown]
    table = Table(["Title", "Source", "Records", "Changed", "Id"], rows)
    notes = [*_further(again, shown[-1].seq if more else None), *([others] if others else [])]
    return View("Sources", [table], notes=notes), data


async def list_records(
    kernel: Kernel, name: str, limit: int, after: int | None, again: str
) -> Listed:
    """List the records of a kind, the last changed first.

    Raises:
        VrError: NOT_FOUND for an unknown kind.
    """
    kind = await _kind(kernel, name)
    changes = await latest_records(kernel, kind, limit + 1, after)
    shown, more = changes[:limit], len(changes) > limit
    following = shown[-1].seq if more else None
    records = [
        {"key": it.key, "created_at": it.created_at, "fields": it.fields, "seq": it.seq}
        for it in shown
    ]
    data = {"kind": kind, "records": records, "next": following}
    declared = kernel.services.kinds.get(kind)
    found = [stored(it) for it in shown]
    if found and declared and not declared.source:  # else its view is about one source
        view = await kernel.services.views.of_records(found)
        return replace(view, notes=[*view.notes, *_further(again, following)]), data
    items = [item_of(declared, each) for each in found]
    block = Records(items) if items else Prose("There are none.")
    about = [declared.description] if declared else ["The plugin of this kind is not loaded."]
    return View(titled(kind), [block], about, notes=_further(again, following)), data


async def _without_source(kernel: Kernel, kinds: Collection[str]) -> str:
    """The kinds with records that no list of sources shows; empty when there are none."""
    services = kernel.services
    sourced = [it.name for it in services.kinds.values() if it.source]
    counted = await services.journal.undeclared(services.workspace, sourced)
    told = [
        f"`vr list {it.kind}` lists {it.count} {'record' if it.count == 1 else 'records'}"
        for it in counted
        if it.kind in services.kinds and (not kinds or it.kind in kinds)
    ]
    return f"{', '.join(told)}." if told else ""


async def _kind(kernel: Kernel, name: str) -> str:
    services = kernel.services
    gone = await services.journal.undeclared(services.workspace, list(services.kinds))
    known = {it.casefold(): it for it in [*services.kinds, *(each.kind for each in gone)]}
    if name.casefold() in known:
        return known[name.casefold()]
    domain = name.casefold()
    near = f"`vr {domain} list` lists its sources. " if domain in kinds_of_domains(kernel) else ""
    near = near or did_you_mean(name, known.values())
    hint = f"{near}There are: {', '.join(sorted(known.values()))}."
    raise VrError(f"There is no kind of records {name!r}.", Code.NOT_FOUND, hint=hint)


def _source_row(source: Source) -> list[Cell]:
    known = ", ".join(f"{kind} {count}" for kind, count in source.kinds.items())
    where = shown_host(source.source)
    if _is_missing(source.source):
        place = Link("", f"{where} (not there any more)")
    else:
        place = Link(source.source, where)
    return [title_of_source(source), place, known, source.last_at[:DAY], source.id[:ID_CHARS]]


def _source_data(source: Source) -> dict[str, Any]:
    names = ("id", "source", "title", "first_at", "last_at", "seq")
    told = {name: getattr(source, name) for name in names}
    return {**told, "kinds": dict(source.kinds), "missing": _is_missing(source.source)}


def _is_missing(source: str) -> bool:
    """True for a file of this machine that is not there any more."""
    if is_web(source) or not Path(source).is_absolute():
        return False
    try:
        return not Path(source).exists()
    except (OSError, ValueError):
        return True


def _further(again: str, seq: int | None) -> list[str]:
    return [] if seq is None else [f"There are more: `{again} --after {seq}`"]
