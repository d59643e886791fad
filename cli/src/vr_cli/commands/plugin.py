"""`vr plugin`: lists, installs, makes and checks plugins."""

from __future__ import annotations

from typing import ClassVar

import click

from vr_cli.groups import LazyGroup, Targets

HOME = "vr_cli.commands"


class Plugins(LazyGroup):
    """The commands below `vr plugin`."""

    targets: ClassVar[Targets] = {
        "check": (f"{HOME}.plugin_check:check", "Check a plugin."),
        "install": (f"{HOME}.plugin_install:install", "Install a plugin into this environment."),
        "list": (f"{HOME}.plugin_list:list_plugins", "List plugins and what each brings."),
        "new": (f"{HOME}.plugin_new:new", "Make the project of a new plugin."),
        "show": (f"{HOME}.plugin_list:show", "Show all that is known of a plugin."),
        "uninstall": (f"{HOME}.plugin_install:uninstall", "Remove a plugin."),
    }


@click.group(cls=Plugins)
def plugin() -> None:
    """List, install and remove plugins; make and check one of your own."""
