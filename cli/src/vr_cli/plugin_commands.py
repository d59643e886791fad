"""Commands of loaded plugins that share a first word: their tools, and commands they define."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import click
from vr_kernel import Code, Command, Kernel, VrError, did_you_mean
from vr_kernel.isolation import contained
from vr_kernel.loading import PluginState, PluginStatus, explain, within

from vr_cli.calling.tool_command import tool_command
from vr_cli.configuration import config_of
from vr_cli.groups import imported
from vr_cli.index import LIST, command_names, kinds_of_domains, subcommand
from vr_cli.opening import open_kernel
from vr_cli.output import print_broken
from vr_cli.own_commands import OWN
from vr_cli.process.streams import diverted_stdout

CLICKS = (
    *(click.ClickException, click.Abort, click.exceptions.Exit),
    *(SystemExit, KeyboardInterrupt, EOFError, BrokenPipeError),
)
"""Exceptions with which a command may end besides returning."""


def open_commands(context: click.Context, name: str) -> PluginCommands:
    """Load all plugins, and take their commands of a first word.

    A broken plugin of that name is not reported here, as the error of its command says it; while a
    shell completes, none is.
    """

    def tell(status: PluginStatus) -> None:
        if not (_is_of(status, name) or context.resilient_parsing):
            print_broken(status)

    return PluginCommands(open_kernel(config_of(context), tell), name)


class PluginCommands:
    """The commands of one first word.

    Args:
        kernel: has loaded the plugins.
        name: the first word.
    """

    def __init__(self, kernel: Kernel, name: str) -> None:
        self._kernel = kernel
        self._name = name

    def names(self) -> Mapping[str, str]:
        """Second words, each with a line of help; an empty one for a command of one word.

        Raises:
            click.UsageError: when there is no such command, naming the nearest.
            VrError: UNAVAILABLE: the plugin of that name is not served.
        """
        found = command_names(self._kernel)
        if self._name in found:
            return found[self._name]
        if refused := self._refused():
            raise refused
        words = [f"{first} {second}" for first, seconds in found.items() for second in seconds]
        spaced = self._name.replace("-", " ").replace("_", " ")
        raise _unknown(self._name, [*OWN, *found, *words], spaced)

    def lone(self) -> click.Command:
        """The command of one word: a plugin's, or the shortcut of a tool."""
        kernel = self._kernel
        tool = next((tool for tool in kernel.tools.values() if tool.command == self._name), None)
        if tool is not None:
            return tool_command(kernel, tool)
        return _code_of(kernel, next(c for c in kernel.commands if c.path == (self._name,)))

    def find(self, second: str) -> click.Command:
        """The command of a second word.

        Raises:
            click.UsageError: when there is none, naming the nearest.
            VrError: UNAVAILABLE: the plugin of that name is not served.
        """
        for tool in self._kernel.tools.values():
            if tool.domain == self._name and subcommand(tool.name) == second:
                return tool_command(self._kernel, tool)
        for command in self._kernel.commands:
            if command.path == (self._name, second):
                return _code_of(self._kernel, command)
        kinds = kinds_of_domains(self._kernel)
        if second == LIST and self._name in kinds:
            from vr_cli.commands.list import list_of

            # Kinds of the kernel are filled by the plugin that shows them.
            shown = self._kernel.services.views.plugin_of
            filled = (it for it in self._kernel.services.kinds if shown("kind", it) == self._name)
            return list_of(self._kernel, self._name, {*kinds[self._name], *filled})
        known = command_names(self._kernel).get(self._name, {})
        raise (None if known else self._refused()) or _unknown(second, known)

    def _refused(self) -> VrError | None:
        """The error of a command whose plugin is not served; None for any other."""
        found = [status for status in self._kernel.plugins() if _is_of(status, self._name)]
        if not found or any(status.state is PluginState.LOADED for status in found):
            return None
        message = f"{found[0].what}."
        hint = "Run `vr doctor`: it tries the plugin again and says what to do."
        return VrError(message, Code.UNAVAILABLE, category="PLUGIN_REFUSED", hint=hint)


def _is_of(status: PluginStatus, name: str) -> bool:
    return name in (status.name, status.name.replace("-", ""))


def _code_of(kernel: Kernel, command: Command) -> click.Command:
    deadline_s = kernel.config.kernel.import_deadline_s
    try:
        with diverted_stdout():
            code = within(deadline_s, lambda: imported(command.target))
    except Exception as error:
        raise _unusable(command, explain(error)) from error
    if not isinstance(code, click.Command):
        raise _unusable(command, f"{command.target} is no click command")
    code.invoke = partial(_invoke, kernel, command, code.invoke)  # type: ignore[method-assign]
    return code


def _invoke(
    kernel: Kernel, command: Command, invoke: Callable[[click.Context], Any], context: click.Context
) -> Any:
    """Run a plugin's command; click's exceptions pass, any other failure becomes a typed error."""
    words = " ".join(command.path)
    owner = next(it.name for it in kernel.plugins() if words in it.offers["commands"])
    with contained(f"`vr {words}`", owner, kernel.log):
        try:
            return invoke(context)
        except CLICKS as expected:
            passed = expected
    raise passed


def _unusable(command: Command, reason: str) -> VrError:
    words = " ".join(command.path)
    message = f"The code of `vr {words}` cannot be used: {reason}."
    return VrError(message, Code.INTERNAL, hint="Report it to the plugin.")


def _unknown(name: str, known: Iterable[str], sought: str = "") -> click.UsageError:
    near = did_you_mean(sought or name, known)
    return click.UsageError(f"No such command {name!r}. {near}".strip())
