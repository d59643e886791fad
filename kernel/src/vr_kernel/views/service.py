"""Makes views of results, records, sources and pages; a view that fails costs its own part."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from vr_kernel.errors import Code, VrError, did_you_mean
from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.stores import StoredRecord
from vr_kernel.views.declaration import Declared, DeclaredView, Of
from vr_kernel.views.joining import joined
from vr_kernel.views.model import View, rechecked
from vr_kernel.views.records import is_place, view_of_records
from vr_kernel.views.results import view_of_result
from vr_kernel.views.values import blocks_of
from vr_kernel.views.words import titled

if TYPE_CHECKING:
    from pydantic import BaseModel

    from vr_kernel.records import Change, RecordKind
    from vr_kernel.services import Services
    from vr_kernel.tools import Tool

LIMIT_S = 2.0
"""Seconds that a plugin may take for a view."""
MOST_CHARS = 16_000_000
"""Characters and bytes in one view; more is too much to show."""
MOST_PARTS = 200_000
"""Texts, numbers and other parts in one view."""
MOST_RECORDS = 5000
"""Records of one source that are shown."""


class Views:
    """The views of all plugins, for one principal.

    Args:
        declared: by what they are of, and its name.
        tools: those of all plugins.
        services_of: gives the services of a plugin for a principal.
        services: those of the one who asks.
    """

    def __init__(
        self,
        declared: Declared,
        tools: Mapping[str, Tool],
        services_of: Callable[[str, str], Services],
        services: Services,
    ) -> None:
        self._declared = declared
        self._tools = tools
        self._services_of = services_of
        self._services = services

    @property
    def pages(self) -> Sequence[DeclaredView]:
        """The pages of plugins, sorted by title."""
        pages = [it for it in self._declared.values() if it.of == "page"]
        return sorted(pages, key=lambda it: it.title)

    def has(self, of: Of, name: str) -> bool:
        """Return True when a plugin declares that view; everything else is shown by default."""
        return (of, name) in self._declared

    def plugin_of(self, of: Of, name: str) -> str:
        """Return the plugin whose view shows that; empty for what is shown by default."""
        declared = self._declared.get((of, name))
        return declared.plugin if declared else ""

    async def of_result(self, tool: Tool, result: BaseModel) -> View:
        """Show the result of a tool."""

        def plain() -> View:
            return view_of_result(tool.name, tool.printed, result)

        return await self._or_plain("tool", tool.name, result, plain)

    async def of_result_data(self, tool: str, data: Mapping[str, Any]) -> View:
        """Show a result that was kept as JSON, such as a job's; by its values without its tool."""
        known = self._tools.get(tool)
        if known is not None:
            try:
                result = known.result.model_validate(data)
            except ValueError:  # it is of another version of the tool
                pass
            else:
                return await self.of_result(known, result)
        return View(titled(tool), list(blocks_of(data)))

    async def of_records(self, records: Sequence[StoredRecord]) -> View:
        """Show records of one kind, at least one: one by itself, or all about one source."""
        kind = records[0].kind
        ordered = _ordered(self._services.kinds.get(kind), records)

        def plain() -> View:
            return view_of_records(self._services.kinds.get(kind), ordered)

        return await self._or_plain("kind", kind, ordered, plain)

    async def of_source(self, id: str) -> View:  # noqa: A002 - the word for it
        """Show all that is known of a source.

        Raises:
            VrError: NOT_FOUND when no record is about it.
        """
        journal, workspace = self._services.journal, self._services.workspace
        source = await journal.source(workspace, id)
        changes = await journal.of_source(workspace, id, limit=MOST_RECORDS) if source else []
        if source is None or not changes:
            message = f"Nothing is known of a source {id!r}."
            raise VrError(message, Code.NOT_FOUND, hint="`vr list` shows the sources.")
        by_kind: dict[str, list[StoredRecord]] = {}
        for change in changes:
            by_kind.setdefault(change.kind, []).append(_stored(change))
        known = [*self._services.kinds, *by_kind]
        kinds = sorted(by_kind, key=known.index)
        views = [await self.of_records(by_kind[kind]) for kind in kinds]
        whole = joined(views, source.title, source.source)
        if len(changes) < MOST_RECORDS:
            return whole
        left = f"Only {MOST_RECORDS:,} of its records are shown."
        return replace(whole, notes=[*whole.notes, left])

    async def page(self, name: str, arguments: Mapping[str, str]) -> View:
        """Show a page of a plugin.

        Raises:
            VrError: NOT_FOUND for an unknown page; what the view raised, or INTERNAL.
        """
        declared = self._declared.get(("page", name))
        if declared is None:
            near = did_you_mean(name, [it.name for it in self.pages])
            raise VrError(f"No page {name!r}.", Code.NOT_FOUND, hint=near)
        return await self._made(declared, arguments)

    async def _or_plain(
        self, of: Of, name: str, subject: object, plain: Callable[[], View]
    ) -> View:
        declared = self._declared.get((of, name))
        if declared is None:
            return plain()
        try:
            return await self._made(declared, subject)
        except VrError as error:
            view = plain()
            return replace(view, notes=[*view.notes, f"{error.message} This is its plain form."])

    async def _made(self, declared: DeclaredView, subject: object) -> View:
        """Run a plugin's view.

        Raises:
            VrError: what it raised; INTERNAL, category VIEW_FAILED, when it failed otherwise.
        """
        services = self._services_of(declared.plugin, self._services.identity.principal)
        what = f"The view of {declared.name} in plugin {declared.plugin}"
        try:
            view = await _within(LIMIT_S, PluginCode.apart(declared.function, services, subject))
            view = rechecked(_require_view(view))
            too_much = _is_too_much(view)
        except VrError:
            raise
        except TimeoutError:
            raise _failed(f"{what} took longer than {LIMIT_S:g} s.") from None
        except Exception as error:
            services.log.exception("a view failed", plugin=declared.plugin, view=declared.name)
            raise _failed(f"{what} failed.") from error
        if too_much:
            raise _failed(f"{what} returned too much to show.")
        return view


def _require_view(view: object) -> View:
    if type(view) is not View:  # a class made of it could do without its checks
        raise TypeError(f"it returned {type(view).__name__}, no View")
    return view


def _failed(message: str) -> VrError:
    hint = "The log has the details. Report it to the plugin."
    return VrError(message, Code.INTERNAL, category="VIEW_FAILED", hint=hint)


async def _within(limit_s: float, work: Awaitable[View]) -> View:
    """The result of work, unless it takes too long; work that ignores its end is left alone.

    Raises:
        TimeoutError: after the limit.
    """
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=limit_s)
    finally:
        task.cancel()
    if not done:
        task.add_done_callback(lambda it: it.cancelled() or it.exception())
        raise TimeoutError
    return task.result()


def _ordered(kind: RecordKind | None, records: Sequence[StoredRecord]) -> tuple[StoredRecord, ...]:
    """Records in order of their places; the latest first where they have none."""
    located = kind.locator if kind else ()

    def place(record: StoredRecord) -> list[float]:
        numbers = [record.fields.get(name) for name in located]
        return [float(it) if is_place(it) else 0.0 for it in numbers]  # type: ignore[arg-type]

    latest = sorted(records, key=lambda it: str(it.fields.get("created_at") or ""), reverse=True)
    return tuple(sorted(latest, key=place) if located else latest)


def _stored(change: Change) -> StoredRecord:
    given = {"created_at": change.created_at, **(change.fields or {})}
    return StoredRecord(change.kind, change.key, given, change.provenance)


def _is_too_much(view: View) -> bool:
    """Add up a view's characters and parts, no further than there may be."""
    chars = parts = 0
    left: list[Any] = [view]
    while left and chars <= MOST_CHARS and parts <= MOST_PARTS:
        value, parts = left.pop(), parts + 1
        if isinstance(value, str | bytes):
            chars += len(value)
        elif is_dataclass(value):
            left += [getattr(value, it.name) for it in fields(value)]
        elif isinstance(value, Mapping):
            left += [each for pair in value.items() for each in pair]
        elif isinstance(value, tuple | list):
            left += value
    return bool(left) or chars > MOST_CHARS or parts > MOST_PARTS
