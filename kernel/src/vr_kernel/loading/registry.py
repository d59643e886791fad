"""All that the loaded plugins offer; each name belongs to one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pydantic import BaseModel

from vr_kernel.commands import Command
from vr_kernel.events import Hear
from vr_kernel.health import Check
from vr_kernel.loading.discovery import PluginState, PluginStatus
from vr_kernel.prompts import Prompt
from vr_kernel.providers import OWN, Provider
from vr_kernel.records import RecordKind
from vr_kernel.resources import Resource
from vr_kernel.services import Services
from vr_kernel.tools import Tool

Named = TypeVar("Named", Tool, Prompt)


@dataclass(slots=True)
class Contribution:
    """Everything one plugin offers, validated.

    `health` is asked by `vr doctor` alone, `views` before the first view, `hear` and
    `hear_requests` when a call or a request has finished, `lifespan` before the first work.
    """

    status: PluginStatus
    refused: list[str] = field(default_factory=list)
    settings: BaseModel | None = None
    tools: list[Tool] = field(default_factory=list)
    prompts: list[Prompt] = field(default_factory=list)
    resources: list[Resource] = field(default_factory=list)
    kinds: list[RecordKind] = field(default_factory=list)
    providers: list[Provider[Any]] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    health: Callable[[Services], list[Check]] = lambda _services: []
    views: Callable[[], list[Callable[..., Any]]] = list
    hear: Hear | None = None
    hear_requests: Hear | None = None
    lifespan: Callable[..., Any] | None = None


class Registry:
    """The contributions of all loaded plugins.

    Of two equal names the plugin named like its first word keeps it, else the first plugin; the
    other is marked as in conflict.
    """

    def __init__(self) -> None:
        self.tools: dict[str, Tool] = {}
        self.prompts: dict[str, Prompt] = {}
        self.resources: dict[str, Resource] = {}
        self.kinds: dict[str, RecordKind] = {}
        self.commands: dict[tuple[str, ...], Command] = {}
        self._owners: dict[tuple[str, str], str] = {}

    def add(self, contributions: Sequence[Contribution]) -> None:
        """Add everything that is offered and whose name is free."""
        for own in (True, False):
            for made in contributions:
                self._add_named(made, own=own)
        for made in contributions:
            self._add_others(made)
        for made in contributions:  # after all names, which no alias may take
            self._claim_aliases("tool", self.tools, made.status)
            self._claim_aliases("prompt", self.prompts, made.status)
            made.status.offers = self._offers(made)
            made.status.tools = made.status.offers["tools"]

    @property
    def kind_owners(self) -> dict[str, str]:
        """The plugin of each record kind."""
        return {name: self._owners["record kind", name] for name in self.kinds}

    def _add_others(self, made: Contribution) -> None:
        for prompt in made.prompts:
            if self._claims("prompt", prompt.name, made.status):
                self.prompts[prompt.name] = prompt
        for resource in made.resources:
            if self._claims("resource", resource.uri, made.status):
                self.resources[resource.uri] = resource
        for kind in made.kinds:
            if self._claims("record kind", kind.name, made.status):
                self.kinds[kind.name] = kind

    def _offers(self, made: Contribution) -> dict[str, list[str]]:
        """List its offers by name, without those that belong to another plugin."""
        tools = [tool for tool in self.tools.values() if tool.plugin == made.status.name]
        paths = [c.path for c in made.commands if self.commands.get(c.path) is c]
        words = [*map(" ".join, paths), *(tool.command for tool in tools if tool.command)]
        return {
            "tools": sorted(tool.name for tool in tools),
            "commands": sorted(words),
            "prompts": [p.name for p in made.prompts if self.prompts[p.name].plugin == p.plugin],
            "resources": [r.uri for r in made.resources if self.resources[r.uri] is r],
            "record kinds": [k.name for k in made.kinds if self.kinds[k.name] is k],
            "providers": [f"{p.kind_name} {p.name}" for p in made.providers if p.name != OWN],
        }

    def _add_named(self, made: Contribution, *, own: bool) -> None:
        name = made.status.name
        for tool in made.tools:
            if (tool.domain == name) is own and self._claims("tool", tool.name, made.status):
                for words in (tool.domain, tool.name.replace("_", " ", 1).replace("_", "-")):
                    self._owners.setdefault(("command", words), f"{name}, for its tools")
                self.tools[tool.name] = self._with_command(tool, made.status)
        for command in made.commands:
            if (command.path[0] == name) is own and self._claims(
                "command", " ".join(command.path), made.status
            ):
                self.commands[command.path] = command

    def _with_command(self, tool: Tool, status: PluginStatus) -> Tool:
        kept = not tool.command or self._claims("command", tool.command, status)
        return tool if kept else replace(tool, command="")

    def _claim_aliases(self, what: str, there: dict[str, Named], status: PluginStatus) -> None:
        for each in [it for it in there.values() if it.aliases and it.plugin == status.name]:
            free = tuple(it for it in each.aliases if self._claims(what, it, status))
            there[each.name] = replace(each, aliases=free)

    def _claims(self, what: str, name: str, status: PluginStatus) -> bool:
        owner = self._owners.get((what, name))
        if owner is not None:
            status.fail(PluginState.CONFLICT, f"{what} {name} already belongs to plugin {owner}")
            return False
        self._owners[what, name] = status.name
        return True
