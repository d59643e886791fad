"""`vr completion`: a shell's script, and names to complete that come from the index alone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence

import click
from click.shell_completion import CompletionItem, get_completion_class, shell_complete
from vr_kernel.config import find_paths

from vr_cli.exits import Exit
from vr_cli.index import read_index
from vr_cli.lazy import imported
from vr_cli.root import OWN, vr

PROGRAM = "vr"
VARIABLE = "_VR_NAMES"
"""Set by the script when it asks for names. Not the name that click takes for `vr`: click would
answer from the commands themselves, and load every plugin to do so."""
INSTALL = """\b
bash: vr completion bash > ~/.local/share/bash-completion/completions/vr
zsh:  vr completion zsh > a/folder/of/fpath/_vr
fish: vr completion fish > ~/.config/fish/completions/vr.fish"""
"""Shown below the help; the first character keeps the lines apart."""


class Names(click.Group):
    """Commands as an index names them: enough to complete, without what they stand for.

    Args:
        names: name -> a line of help.
        find: the command of a name, for what comes after it.
        params: its own options.
    """

    def __init__(
        self,
        name: str,
        names: Mapping[str, str],
        find: Callable[[str], click.Command],
        params: Sequence[click.Parameter] = (),
    ) -> None:
        super().__init__(name, params=list(params))
        self._names = names
        self._find = find

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """What can come after a name."""
        del ctx
        return self._find(cmd_name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names and options that begin so."""
        names = [
            CompletionItem(name, help=" ".join(text.split()))
            for name, text in sorted(self._names.items())
            if name and name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]


@click.command(epilog=INSTALL)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the script that completes `vr` in SHELL."""
    asked = os.environ.get(VARIABLE, "")
    if asked:
        return shell_complete(_root(), {}, PROGRAM, VARIABLE, asked)
    click.echo(_script(shell))
    return Exit.OK


def _script(shell: str) -> str:
    kind = get_completion_class(shell)
    assert kind is not None
    # Click's script runs `vr` for the names; ours runs `vr completion SHELL`.
    asks = rf"({VARIABLE}={shell}_complete[^\n]*?(?:\$1|\b{PROGRAM}))\)"
    script, found = re.subn(
        asks, rf"\1 completion {shell})", kind(vr, {}, PROGRAM, VARIABLE).source()
    )
    assert found == 1, "click's script is another one than was expected"
    return script


def _root() -> Names:
    index = read_index(find_paths(os.environ))
    names = {first: ", ".join(sorted(seconds)) for first, seconds in index.items()}
    own = {name: help_text for name, (_, help_text) in OWN.items()}

    def find(name: str) -> click.Command:
        if name in OWN:
            command: click.Command = imported(OWN[name][0])
            return command
        seconds = index.get(name, {"": ""})
        return _leaf(name) if "" in seconds else Names(name, seconds, _leaf)

    return Names(PROGRAM, {**names, **own}, find, vr.params)


def _leaf(name: str) -> click.Command:
    """A command that takes anything: its own options are known to its plugin alone."""
    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    json = click.Option(["--json"], is_flag=True, help="Print JSON.")
    return click.Command(name, params=[json], context_settings=settings)
