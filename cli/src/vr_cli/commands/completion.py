"""`vr completion`: prints the completion script that click makes for a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from vr_cli.running import COMPLETING, PROGRAM

INSTALL = """\b
bash: vr completion bash > ~/.local/share/bash-completion/completions/vr
zsh:  vr completion zsh > a/folder/of/fpath/_vr
fish: vr completion fish > ~/.config/fish/completions/vr.fish"""
"""Shown below the help; the first character keeps the lines apart."""


@click.command(epilog=INSTALL)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes `vr` in SHELL."""
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, PROGRAM, COMPLETING).source())
