"""Checks of all that a plugin's hooks return."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from vr_kernel import Command, Diagnosis, Provider, RecordKind
from vr_kernel.loading import Hooks, explain, within

from vr_cli.inspection.findings import Finding, guarded, or_ok
from vr_cli.inspection.kind_checks import check_kind
from vr_cli.inspection.settings_checks import check_settings
from vr_cli.inspection.tool_checks import check_command, check_tool


class Offers:
    """The hooks of one registered plugin, each called once, under the kernel's deadline."""

    def __init__(self, hooks: Hooks, plugin: str, deadline_s: float) -> None:
        self._hooks = hooks
        self._plugin = plugin
        self._deadline_s = deadline_s

    def check(self) -> Iterator[Finding]:
        """Check all that the plugin offers, hook by hook; hooks it lacks are left out."""
        yield from self._settings()
        yield from self._each("vr_tools", "tools", lambda item: check_tool(item, self._plugin))
        yield from self._each("vr_record_kinds", "record kinds", _typed(RecordKind, check_kind))
        yield from self._each("vr_providers", "providers", _typed(Provider, _accept))
        yield from self._each("vr_commands", "commands", _typed(Command, check_command))

    def _settings(self) -> Iterator[Finding]:
        model, problem = self._called("vr_settings", "settings", lambda offered: offered)
        if problem is not None:
            yield problem
        elif model is not None:
            name = getattr(model, "__name__", repr(model))
            found = guarded("settings", lambda: check_settings(model), _fix_of("vr_settings"))
            yield from or_ok("settings", found, name)

    def _each(
        self, hook: str, check: str, look: Callable[[Any], Iterator[Finding]]
    ) -> Iterator[Finding]:
        items: list[Any] = []
        _, problem = self._called(hook, check, lambda offered: items.extend(offered or ()))
        findings = [] if problem is None else [problem]
        for item in items:
            findings += guarded(check, partial(look, item), _fix_of(hook))
        if findings or items:
            yield from or_ok(check, findings, ", ".join(map(_name_of, items)))

    def _called(
        self, hook: str, check: str, take: Callable[[Any], Any]
    ) -> tuple[Any, Finding | None]:
        def call() -> Any:
            return take(self._hooks.of(self._plugin).answer(hook))

        try:
            return within(self._deadline_s, call), None
        except Exception as failure:  # noqa: BLE001 - whatever a plugin raises is a finding
            return None, (check, Diagnosis.fault(f"{hook}: {explain(failure)}", _fix_of(hook)))


_RETURNS: Mapping[str, str] = {
    "vr_settings": "a class derived from Section",
    "vr_tools": "a list of functions with @tool",
    "vr_record_kinds": "a list of RecordKind",
    "vr_providers": "a list of Provider",
    "vr_commands": "a list of Command",
}


def _fix_of(hook: str) -> str:
    return f"{hook} returns {_RETURNS[hook]}, and does no work."


def _typed(
    wanted: type[Any], look: Callable[[Any], Iterator[Finding]]
) -> Callable[[Any], Iterator[Finding]]:
    def checked(item: Any) -> Iterator[Finding]:
        if isinstance(item, wanted):
            yield from look(item)
        else:
            message = f"expected {wanted.__name__}, got {type(item).__name__}: {item!r:.80}"
            check = {RecordKind: "record kinds", Provider: "providers"}.get(wanted, "commands")
            yield (check, Diagnosis.fault(message, f"Return a list of {wanted.__name__}."))

    return checked


def _accept(item: Any) -> Iterator[Finding]:
    del item
    yield from ()


def _name_of(item: Any) -> str:
    if isinstance(item, Command):
        return " ".join(item.path)
    return str(getattr(item, "name", None) or getattr(item, "__name__", None) or repr(item))
