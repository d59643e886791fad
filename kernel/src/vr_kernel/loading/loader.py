"""Turns an allowed candidate into a contribution: all of what it offers, or nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from vr_kernel.commands import Command
from vr_kernel.config.config import Config
from vr_kernel.errors import VrError
from vr_kernel.loading.discovery import PluginState, PluginStatus, explain, within
from vr_kernel.loading.hooks import Hooks
from vr_kernel.loading.registry import Contribution
from vr_kernel.log import Log
from vr_kernel.prompts import build_prompt
from vr_kernel.resources import build_resource
from vr_kernel.signatures.schema_cache import ToolSchemas
from vr_kernel.text.redaction import Redaction, secrets_of
from vr_kernel.tools import build_tool

if TYPE_CHECKING:
    from vr_kernel.loading.load_failures import LoadFailures

T = TypeVar("T")
SHORTCUTS = frozenset({"search", "ask", "open"})
"""Words for what people do most; they belong to the tools that declare them as `command`."""
RESERVED_DOMAINS = SHORTCUTS | {
    *("call", "clean", "completion", "config", "cost", "doctor", "infra", "init", "job", "jobs"),
    *("list", "plugin", "serve", "show", "store", "tool"),
}
"""First words of the kernel's own commands and tools; a plugin's tool may not use them."""
LONG = 0.1
"""Share of the deadline from which a failure is remembered; quick failures cost nothing."""


class Loader:
    """Loads plugins one by one; a failure becomes the plugin's status.

    A plugin that took long to fail is not tried again until it changes. With `strict` configuration
    a failure is raised and not remembered, for developers and continuous integration.

    Args:
        config: the settings to use.
        hooks: where plugins are registered.
        log: gets what is wrong with a plugin.
        redaction: learns the secrets of plugins' settings.
        schemas: those of tools, from earlier starts.
        again: also try plugins that failed before.
    """

    def __init__(
        self,
        config: Config,
        hooks: Hooks,
        log: Log,
        redaction: Redaction,
        schemas: ToolSchemas | None = None,
        *,
        again: bool = False,
    ) -> None:
        self._config = config
        self._hooks = hooks
        self._log = log
        self._redaction = redaction
        self._build = partial(build_tool, schemas=schemas)
        self._again = again or config.kernel.strict
        self._memory = config.paths.cache / "plugins.json"

    def load(
        self,
        status: PluginStatus,
        load: Callable[[], object],
        stamp: Callable[[], str] = str,
        *,
        trusted: bool = False,
    ) -> Contribution | None:
        """Import and register a plugin and collect what it offers; None when it cannot be used.

        Args:
            status: of the plugin; failures are recorded in it.
            load: imports it.
            stamp: changes when the installed files change; empty when unknown.
            trusted: the kernel's own plugin, which may use reserved names.
        """
        kernel = self._config.kernel

        def state() -> str:
            return f"{known} {kernel.import_deadline_s}" if (known := stamp()) else ""

        if not self._again and (reason := self._remembered(status.name, state)):
            status.fail(PluginState.BROKEN, f"{reason}; not tried again until it changes")
            return None
        begun = time.monotonic()
        try:
            made = within(
                kernel.import_deadline_s, lambda: self._contribution(status, load, trusted)
            )
        except Exception as error:
            self._hooks.unregister(status.name)
            status.fail(PluginState.BROKEN, self._log.clean(explain(error)))
            if time.monotonic() - begun > LONG * kernel.import_deadline_s:
                self._remember(status, state(), error)
            if kernel.strict:
                self._log.exception("plugin failed", plugin=status.name)
                raise status.as_error() from error
            return None
        if self._memory.is_file():
            self._failures.forget(status.name)
        for reason in made.refused:
            status.fail(PluginState.CONFLICT, reason)
        return made

    @cached_property
    def _failures(self) -> LoadFailures:
        from vr_kernel.loading.load_failures import LoadFailures

        return LoadFailures(self._memory)

    def _remembered(self, name: str, state: Callable[[], str]) -> str:
        return self._failures.reason(name, state) if self._memory.is_file() else ""

    def _remember(self, status: PluginStatus, stamp: str, error: Exception) -> None:
        of_settings = isinstance(error, VrError) and error.category == "CONFIG_INVALID"
        if stamp and not of_settings and not self._config.kernel.strict:
            self._failures.keep(status.name, stamp, status.reason)

    def _contribution(
        self, status: PluginStatus, load: Callable[[], object], trusted: bool
    ) -> Contribution:
        name = status.name
        self._hooks.register(load(), name)
        hooks = self._hooks.of(name)
        made = Contribution(status, settings=self._settings(name, hooks.settings()))
        made.health, made.views = hooks.health, hooks.views
        if hooks.active(made.settings):
            made.lifespan = hooks.function("vr_lifespan")
            made.hear = hooks.function("vr_call_finished")
            made.hear_requests = hooks.function("vr_request_finished")
        for function in hooks.tools():
            tool = _built("tool", self._build, function, name)
            if tool.domain in RESERVED_DOMAINS and not trusted:
                made.refused.append(f"tool {tool.name}: {tool.domain} is a reserved name")
                continue
            if tool.command in RESERVED_DOMAINS - SHORTCUTS:
                made.refused.append(f"command {tool.command}: it is a reserved name")
                tool = replace(tool, command="")
            made.tools.append(tool)
        for function in hooks.prompts():
            made.prompts.append(_built("prompt", build_prompt, function, name))
        for function in hooks.resources():
            made.resources.append(_built("resource", build_resource, function, name))
        made.kinds = hooks.record_kinds()
        for kind in made.kinds:
            kind.check()
        made.providers = hooks.providers()
        for command in hooks.commands():
            words = _words(command)
            if command.path[0] in RESERVED_DOMAINS:
                made.refused.append(f"command {words}: {command.path[0]} is a reserved name")
            else:
                made.commands.append(command)
        return made

    def _settings(self, name: str, model: type[BaseModel] | None) -> BaseModel | None:
        if model is None:
            return None
        settings: BaseModel = self._config.section(f"plugins.{name}", model)
        self._redaction.learn(secrets_of({}, [settings]))
        return settings


def _built(what: str, build: Callable[[Any, str], T], function: Any, plugin: str) -> T:
    try:
        return build(function, plugin)
    except Exception as error:
        name = getattr(function, "__name__", repr(function))
        raise TypeError(f"{what} {name} cannot be served: {explain(error)}") from error


def _words(command: Command) -> str:
    words = " ".join(command.path)
    if len(command.path) not in (1, 2) or not all(command.path):
        raise ValueError(f"command {words!r} has not one or two words")
    return words
