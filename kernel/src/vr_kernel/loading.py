"""Turns an allowed candidate into a contribution: all of what it offers, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from vr_kernel.commands import Command
from vr_kernel.config import Config
from vr_kernel.hooks import Hooks
from vr_kernel.plugins import PluginStatus, State, explain, within
from vr_kernel.providers import Provider
from vr_kernel.records import RecordKind
from vr_kernel.tools import Tool, build_tool

RESERVED_DOMAINS = frozenset(
    {"call", "clean", "completion", "config", "cost", "doctor", "infra", "init", "job", "jobs"}
    | {"plugin", "serve", "store"}
)
"""First words of the kernel's own commands and tools; a plugin's tool may not use them."""


@dataclass(slots=True)
class Contribution:
    """Everything one plugin offers, validated."""

    status: PluginStatus
    settings: BaseModel | None = None
    tools: list[Tool] = field(default_factory=list)
    kinds: list[RecordKind] = field(default_factory=list)
    providers: list[Provider[Any]] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)


class Loader:
    """Loads plugins one by one; what goes wrong becomes the plugin's status.

    With `strict` configuration it raises instead, for developers and continuous integration.
    """

    def __init__(self, config: Config, hooks: Hooks, log: Any) -> None:
        self._config = config
        self._hooks = hooks
        self._log = log

    def load(
        self, status: PluginStatus, load: Callable[[], object], *, trusted: bool = False
    ) -> Contribution | None:
        """Import and register a plugin and collect what it offers; None when it is out.

        `trusted` names the kernel's own plugin, which may use reserved names.
        """
        kernel = self._config.kernel
        try:
            return within(
                kernel.import_deadline_s, lambda: self._contribution(status, load, trusted)
            )
        except (Exception, SystemExit) as error:
            if kernel.strict:
                raise
            self._hooks.unregister(status.name)
            status.fail(State.BROKEN, explain(error))
            self._log.error("plugin is broken", plugin=status.name, reason=status.reason)
            return None

    def _contribution(
        self, status: PluginStatus, load: Callable[[], object], trusted: bool
    ) -> Contribution:
        name = status.name
        self._hooks.register(load(), name)
        made = Contribution(status, settings=self._settings(name))
        for function in self._list("vr_tools", name):
            tool = build_tool(function, name)
            if tool.domain in RESERVED_DOMAINS and not trusted:
                status.fail(State.CONFLICT, f"tool {tool.name} uses a reserved name")
            else:
                made.tools.append(tool)
        made.kinds = _typed(RecordKind, self._list("vr_record_kinds", name))
        made.providers = _typed(Provider, self._list("vr_providers", name))
        made.commands = _typed(Command, self._list("vr_commands", name))
        for command in made.commands:
            if command.path[0] in RESERVED_DOMAINS:
                raise ValueError(f"command {' '.join(command.path)} uses a reserved name")
        return made

    def _list(self, hook: str, name: str) -> list[Any]:
        return list(self._hooks.call(hook, name) or ())

    def _settings(self, name: str) -> BaseModel | None:
        model = self._hooks.call("vr_settings", name)
        return None if model is None else self._config.section(f"plugins.{name}", model)


class Registry:
    """The contributions of all loaded plugins; of two equal names the first keeps it."""

    def __init__(self, log: Any) -> None:
        self._log = log
        self.tools: dict[str, Tool] = {}
        self.kinds: dict[str, RecordKind] = {}
        self.commands: dict[tuple[str, ...], Command] = {}

    def add(self, contribution: Contribution) -> None:
        """Take over what is not taken; a name that is, marks its plugin as in conflict."""
        status = contribution.status
        self._claim(self.tools, ((t.name, t) for t in contribution.tools), status)
        self._claim(self.kinds, ((k.name, k) for k in contribution.kinds), status)
        self._claim(self.commands, ((c.path, c) for c in contribution.commands), status)
        status.tools = sorted(t.name for t in self.tools.values() if t.plugin == status.name)

    def _claim(
        self, taken: dict[Any, Any], offered: Iterable[tuple[Any, Any]], status: PluginStatus
    ) -> None:
        for name, item in offered:
            if name in taken:
                status.fail(State.CONFLICT, f"{type(item).__name__} {name!r} is already taken")
                self._log.error("name conflict", plugin=status.name, reason=status.reason)
            else:
                taken[name] = item


def _typed(wanted: type[Any], items: list[Any]) -> list[Any]:
    for item in items:
        if not isinstance(item, wanted):
            raise TypeError(f"expected {wanted.__name__}, got {type(item).__name__}")
    return items
