"""The commands below a plugin's first word, such as `vr video …`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from typing import Any

import click
from vr_kernel import Code, Command, Kernel, VrError, did_you_mean
from vr_kernel.isolation import contained
from vr_kernel.loading import PluginStatus, State, explain, within

from vr_cli.index import command_names, subcommand
from vr_cli.lazy import imported
from vr_cli.output import print_broken
from vr_cli.root import OWN, config_of
from vr_cli.session import open_kernel
from vr_cli.streams import diverted_stdout
from vr_cli.tool_command import tool_command

CLICKS = (
    *(click.ClickException, click.Abort, click.exceptions.Exit),
    *(SystemExit, KeyboardInterrupt, EOFError, BrokenPipeError),
)
"""How a command may end beside returning."""


class Domain(click.Group):
    """Tools and commands that share a first word; plugins are loaded when one is run."""

    def __init__(
        self,
        name: str,
        names: Mapping[str, str],
        context: click.Context,
        kernel: Kernel | None = None,
    ) -> None:
        super().__init__(name, help=f"Commands of {name}.")
        self._names = names
        self._context = context
        self._kernel = kernel

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel, loaded at first use."""
        return self._kernel or _open(self._context, self.name or "")

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Second words, from the index when it has them."""
        del ctx
        return sorted(self._names or command_names(self.kernel).get(self.name or "", {}))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The command of that name.

        Raises:
            click.UsageError: when there is none, naming the nearest.
            VrError: UNAVAILABLE: the plugin of that name is not served.
        """
        del ctx
        for tool in self.kernel.tools.values():
            if tool.domain == self.name and subcommand(tool.name) == cmd_name:
                return tool_command(self.kernel, tool)
        for command in self.kernel.commands:
            if command.path == (self.name, cmd_name):
                return _code_of(self.kernel, command)
        known = command_names(self.kernel).get(self.name or "", {})
        refused = None if known else _refused(self.kernel, self.name or "")
        raise refused or _unknown(cmd_name, known)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in `--help`, from the index when it has it."""
        del ctx
        names = self._names or command_names(self.kernel).get(self.name or "", {})
        with formatter.section("Commands"):
            formatter.write_dl(sorted(names.items()))


def domain_command(context: click.Context, name: str, names: Mapping[str, str]) -> click.Command:
    """The group of a first word, or the lone command of that name."""
    if names and "" not in names:
        return Domain(name, names, context)
    kernel = _open(context, name)
    found = command_names(kernel)
    if "" in found.get(name, {}):
        return _lone(kernel, name)
    if name in found:
        return Domain(name, found[name], context, kernel)
    if refused := _refused(kernel, name):
        raise refused
    words = [f"{first} {second}" for first, seconds in found.items() for second in seconds]
    spaced = name.replace("-", " ").replace("_", " ")
    raise _unknown(name, [*OWN, *found, *words], spaced)


def _lone(kernel: Kernel, name: str) -> click.Command:
    """The command of one word: a plugin's, or the shortcut of a tool."""
    tool = next((tool for tool in kernel.tools.values() if tool.command == name), None)
    if tool is not None:
        return tool_command(kernel, tool)
    return _code_of(kernel, next(c for c in kernel.commands if c.path == (name,)))


def _open(context: click.Context, name: str) -> Kernel:
    """The kernel; of a plugin of that name nothing is told, as its command says it."""

    def tell(status: PluginStatus) -> None:
        if not _is_of(status, name):
            print_broken(status)

    return open_kernel(config_of(context), tell)


def _refused(kernel: Kernel, name: str) -> VrError | None:
    """The error of a command whose plugin is not served, None for any other."""
    found = [status for status in kernel.plugins() if _is_of(status, name)]
    if not found or any(status.state is State.LOADED for status in found):
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
    """Run a plugin's command; only what click knows goes through, other failures are named."""
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
