"""Calls hooks one plugin at a time, so that a plugin that raises harms no other."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pluggy

from vr_kernel import hookspecs
from vr_kernel.errors import did_you_mean
from vr_kernel.hookspecs import PROJECT


class UnknownHookError(Exception):
    """A plugin implements a hook that does not exist."""


class Hooks:
    """The registered plugins and their hook implementations; the only user of pluggy."""

    def __init__(self) -> None:
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(hookspecs)

    def register(self, plugin: object, name: str) -> None:
        """Register a plugin, whole or not at all.

        Raises:
            UnknownHookError: for a hook that no specification names, such as a misspelt one.
            pluggy.PluginValidationError: for arguments that the hook does not have.
        """
        try:
            self._manager.register(plugin, name)
            self._require_known(plugin)
        except BaseException:
            self.unregister(name)
            raise

    def unregister(self, name: str) -> None:
        """Forget a plugin; harmless when it is not registered."""
        if self._manager.has_plugin(name):
            self._manager.unregister(name=name)

    def call(self, hook: str, plugin_name: str, **arguments: Any) -> Any:
        """What one plugin's implementation of a hook returns, None when it has none."""
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            if implementation.plugin_name == plugin_name:
                taken = {name: arguments[name] for name in implementation.argnames}
                return implementation.function(**taken)
        return None

    def names(self) -> list[str]:
        """All hooks."""
        return [name for name in vars(hookspecs) if name.startswith(f"{PROJECT}_")]

    def _implemented(self, plugin: object) -> list[str]:
        members = vars(plugin) if isinstance(plugin, ModuleType) else dir(plugin)
        return [
            name for name in members if self._manager.parse_hookimpl_opts(plugin, name) is not None
        ]

    def _require_known(self, plugin: object) -> None:
        known = self.names()
        for hook in self._implemented(plugin):
            if hook not in known:
                raise UnknownHookError(f"no such hook: {hook}. {did_you_mean(hook, known)}")
