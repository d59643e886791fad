"""The registration of plugins and their hooks; each plugin is called by itself."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import pluggy

from vr_kernel import hookspecs
from vr_kernel.errors import did_you_mean
from vr_kernel.hookspecs import PROJECT
from vr_kernel.loading.plugin_hooks import PluginHooks

EVENTS = frozenset({"vr_call_finished", "vr_request_finished"})
"""Hooks that are awaited; all others are plain functions."""


class HookError(Exception):
    """A plugin implements a hook that does not exist, or in a way that is never called."""


class Hooks:
    """The registered plugins and their hook implementations; the only user of pluggy."""

    def __init__(self) -> None:
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(hookspecs)

    def register(self, plugin: object, name: str) -> None:
        """Register a plugin, whole or not at all.

        Raises:
            HookError: for a hook that no specification names, such as a misspelt one, or an
                implementation that is not marked or not a plain function.
            pluggy.PluginValidationError: for arguments that the hook does not have.
        """
        self._require_sound(plugin)
        if self._manager.has_plugin(name):
            raise HookError(f"a plugin named {name} is registered already")
        try:
            self._manager.register(plugin, name)
        except BaseException:
            self.unregister(name)
            raise

    def unregister(self, name: str) -> None:
        """Forget a plugin; harmless when it is not registered."""
        if self._manager.has_plugin(name):
            self._manager.unregister(name=name)

    def of(self, plugin_name: str) -> PluginHooks:
        """Return the hooks of one plugin, typed; a plugin that is not registered has none."""
        implementations = {
            hook: each
            for hook in self.names()
            for each in getattr(self._manager.hook, hook).get_hookimpls()
            if each.plugin_name == plugin_name
        }
        return PluginHooks(implementations)

    def names(self) -> list[str]:
        """List all hooks."""
        return [name for name in vars(hookspecs) if name.startswith(f"{PROJECT}_")]

    def _implemented(self, plugin: object) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name in list(vars(plugin) if isinstance(plugin, ModuleType) else dir(plugin)):
            options = self._manager.parse_hookimpl_opts(plugin, name)
            if options is not None:
                found[options.get("specname") or name] = getattr(plugin, name)
        return found

    def _require_sound(self, plugin: object) -> None:
        known, marked = self.names(), self._implemented(plugin)
        for hook, function in marked.items():
            if hook not in known:
                raise HookError(f"no such hook: {hook}. {did_you_mean(hook, known)}".strip())
            if hook not in EVENTS and inspect.iscoroutinefunction(function):
                raise HookError(f"{hook} is async, but this hook is a plain function")
        for hook in known:
            if hook not in marked and callable(getattr(plugin, hook, None)):
                raise HookError(f"{hook} is not marked with @hookimpl")
