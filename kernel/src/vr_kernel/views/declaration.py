"""`@view` marks a function that says what there is to see; `DeclaredView` is made of it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.views.model import View

if TYPE_CHECKING:
    from vr_kernel.log import Log

F = TypeVar("F", bound=Callable[..., Awaitable[View]])
Of = Literal["kind", "tool", "page"]
MARK = "__vr_view__"
PARAMETERS = 2
"""A view takes the plugin's services and the subject."""


@dataclass(frozen=True, slots=True)
class DeclaredView:
    """A view of a record kind, of a tool's results, or a page of its own."""

    of: Of
    name: str
    title: str
    plugin: str
    function: Callable[..., Awaitable[View]]


Declared = Mapping[tuple[Of, str], DeclaredView]
"""Views by what they are of, and its name."""


def view(*, kind: str = "", tool: str = "", page: str = "", title: str = "") -> Callable[[F], F]:
    """Mark an async function `(services, subject) -> View`; give one of `kind`, `tool`, `page`.

    Args:
        kind: a record kind. The subject is a sequence of its `StoredRecord`s: one, or all that are
            about one source, in order of their places, the latest first where they have none.
        tool: a tool. The subject is its result model.
        page: a page of its own. The subject is a mapping of texts, from the page's address.
        title: of a page, in lists of pages.

    Raises:
        TypeError: when none or several are given.
    """
    given: list[tuple[Of, str]] = [("kind", kind), ("tool", tool), ("page", page)]
    named = [(of, name) for of, name in given if name]
    if len(named) != 1:
        raise TypeError("@view takes one of kind, tool and page")

    def mark(function: F) -> F:
        setattr(function, MARK, (*named[0], title))
        return function

    return mark


def declared_views(
    hooks: Mapping[str, Callable[[], list[Callable[..., Any]]]],
    owners: Mapping[tuple[str, str], str],
    log: Log,
    *,
    strict: bool,
) -> Declared:
    """Collect the views of all plugins; that of the plugin that owns the subject comes first.

    A plugin whose views cannot be used is logged, and shown by default.

    Args:
        hooks: the hook of each plugin, by its name.
        owners: the plugin of each kind and tool.
        log: gets what fails.
        strict: raises instead, for developers and continuous integration.

    Raises:
        Exception: what a plugin raised, when strict.
    """
    found: list[DeclaredView] = []
    for plugin, hook in hooks.items():
        try:
            with PluginCode():
                found += [build_view(function, plugin) for function in hook()]
        except Exception:
            log.exception("the views of a plugin cannot be used", plugin=plugin)
            if strict:
                raise
    found.sort(key=lambda it: owners.get((it.of, it.name)) != it.plugin)
    declared: dict[tuple[Of, str], DeclaredView] = {}
    for each in found:
        declared.setdefault((each.of, each.name), each)
    return declared


def build_view(function: Callable[..., Any], plugin: str) -> DeclaredView:
    """Make a declared view of a marked function.

    Raises:
        TypeError: when the function is no view, or takes something else than services and subject.
    """
    name = getattr(function, "__name__", repr(function))
    declared = getattr(function, MARK, None)
    if declared is None or not inspect.iscoroutinefunction(function):
        raise TypeError(f"{name} is not an async function with @view")
    if len(inspect.signature(function).parameters) != PARAMETERS:
        raise TypeError(f"view {name} does not take services and a subject")
    of, subject, title = declared
    return DeclaredView(of, subject, title or subject, plugin, function)
