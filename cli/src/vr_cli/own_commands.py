"""The commands that do not come from plugins, by name."""

from __future__ import annotations

OWN = {
    "call": ("vr_cli.commands.call:call", "Call a tool by its name."),
    "clean": ("vr_cli.commands.clean:clean", "Remove what can be done without."),
    "completion": ("vr_cli.commands.completion:completion", "Print a shell's completion script."),
    "config": ("vr_cli.commands.config:config", "Show settings; trust a project's."),
    "cost": ("vr_cli.commands.cost:cost", "Show what language models were used for."),
    "doctor": ("vr_cli.commands.doctor:doctor", "Find what is wrong, and how to mend it."),
    "init": ("vr_cli.commands.init:init", "Connect MCP clients, allow folders, keep a key."),
    "list": ("vr_cli.commands.list:list_command", "List what is known."),
    "plugin": ("vr_cli.commands.plugin:plugin", "List, install, make and check plugins."),
    "serve": ("vr_cli.commands.serve:serve", "Serve all tools to an MCP client."),
    "show": ("vr_cli.commands.show:show", "Show a source, a record, a job, or a file of -o."),
    "store": ("vr_cli.commands.store:store", "Show how far the store is, and what it refused."),
}
"""Name -> `module:attribute` of the command, and one line of help."""
WITHOUT_CONFIGURATION = ("completion", "doctor")
"""Commands that run although no configuration can be read."""
