"""The composition root: loads plugins onto the foundation, and runs calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from vr_kernel.builtin import plugin as infra
from vr_kernel.call import ProgressReport
from vr_kernel.composition.foundation import Foundation
from vr_kernel.config.config import Config, load_config
from vr_kernel.errors import Code, VrError, did_you_mean
from vr_kernel.health import Check
from vr_kernel.isolation.plugin_code import contained
from vr_kernel.journal.store_follower import StoreFollower
from vr_kernel.loading.discovery import (
    INFRA,
    Candidate,
    PluginStatus,
    State,
    check,
    discover,
    report,
)
from vr_kernel.loading.hooks import Hooks
from vr_kernel.loading.loader import Contribution, Loader, Registry
from vr_kernel.prompts import Message, Prompt
from vr_kernel.questions import Asker, ask_nobody
from vr_kernel.resources import Reading, Resource
from vr_kernel.running import runner
from vr_kernel.running.runner import Outcome
from vr_kernel.running.running_job import LongCall
from vr_kernel.services import Services
from vr_kernel.signatures.schema_cache import ToolSchemas
from vr_kernel.tools import Tool
from vr_kernel.version import VERSION

if TYPE_CHECKING:
    from vr_kernel.journal.archive import Archive


class Kernel(Foundation):
    """Plugins and services of one configuration. Several kernels can live in one process.

    Args:
        config: the settings to use.
        plugins: name -> plugin object or module; without it installed plugins are discovered.
        roots: folders below which files may be read, beside the configured ones.
        schemas: those of tools, from earlier starts.
        tell: takes each plugin that is not served whole; without it the log does.
        retry: load plugins that took long to fail once more, though they have not changed.
    """

    def __init__(
        self,
        config: Config,
        plugins: Mapping[str, object] | None = None,
        *,
        roots: Sequence[str | Path] = (),
        schemas: ToolSchemas | None = None,
        tell: Callable[[PluginStatus], None] | None = None,
        retry: bool = False,
    ) -> None:
        super().__init__(config, roots)
        self.jobs.serve(self._served)
        self._statuses: list[PluginStatus] = []
        self._services: dict[str, Services] = {}
        self._registry = Registry()
        self._health: dict[str, Callable[[], list[Check]]] = {}
        given = _given(plugins) if plugins is not None else None
        loader = Loader(self.config, Hooks(), self.log, self.redaction, schemas, again=retry)
        self._load(given, loader, tell)

    @classmethod
    def open(
        cls,
        config: Config | None = None,
        plugins: Mapping[str, object] | None = None,
        *,
        roots: Sequence[str | Path] | None = None,
    ) -> AbstractAsyncContextManager[Kernel]:
        """A kernel for the time of an `async with`; files below the working folder may be read.

        Raises:
            VrError: INVALID_INPUT, category CONFIG_INVALID.
        """
        from vr_kernel.composition.opening import Opening

        folders = (Path.cwd(),) if roots is None else roots
        return Opening(lambda: cls(config or load_config(), plugins, roots=folders))

    @property
    def tools(self) -> Mapping[str, Tool]:
        """All tools by name, sorted."""
        return dict(sorted(self._registry.tools.items()))

    @property
    def prompts(self) -> Mapping[str, Prompt]:
        """All prompts by name, sorted."""
        return dict(sorted(self._registry.prompts.items()))

    @property
    def resources(self) -> Mapping[str, Resource]:
        """All resources and families of them by address, sorted."""
        return dict(sorted(self._registry.resources.items()))

    def write(self, prompt: Prompt, arguments: Mapping[str, Any]) -> list[Message]:
        """The messages of a prompt.

        Raises:
            VrError: INVALID_INPUT for arguments that do not fit; INTERNAL when the prompt failed.
        """
        self.require_open()
        with contained(f"Prompt {prompt.name}", prompt.plugin, self.log):
            return prompt.write(arguments)

    async def read(
        self, resource: Resource, arguments: Mapping[str, Any], by: str | None = None
    ) -> Reading:
        """What stands at an address of a resource, with these parts, for a principal.

        Raises:
            VrError: what the resource raised; INTERNAL when it failed in another way.
        """
        self.require_open()
        with contained(f"Resource {resource.uri}", resource.plugin, self.log):
            services = self._services[resource.plugin].of_principal(by or self.principal)
            return await resource.read(services, arguments)

    @property
    def commands(self) -> list[Any]:
        """The commands of plugins that are no tools."""
        return [self._registry.commands[path] for path in sorted(self._registry.commands)]

    @property
    def archive(self) -> Archive:
        """Everything recorded, to be carried in and out."""
        from vr_kernel.journal.archive import Archive

        workspace = self.config.store.workspace
        return Archive(self.journal, self._registry.kinds, self.store, workspace)

    @property
    def settings(self) -> Mapping[str, BaseModel]:
        """The validated settings of each loaded plugin that has any."""
        return {n: s.settings for n, s in self._services.items() if s.settings is not None}

    @property
    def health(self) -> Mapping[str, Callable[[], list[Check]]]:
        """For each loaded plugin the function that asks for its checks; it may raise anything."""
        return self._health

    def plugins(self) -> tuple[PluginStatus, ...]:
        """Every installed plugin and what became of it."""
        return tuple(self._statuses)

    async def call(self, name: str, /, **arguments: Any) -> BaseModel:
        """Call a tool and return its result model.

        Raises:
            VrError: what the tool raised; NOT_FOUND for an unknown tool.
        """
        outcome = await self.run(name, arguments)
        if outcome.error is not None:
            raise outcome.error
        assert outcome.result is not None
        return outcome.result

    async def run(
        self,
        name: str,
        arguments: Mapping[str, Any],
        report: ProgressReport = lambda _done, _total, _message: None,
        *,
        principal: str | None = None,
        ask: Asker = ask_nobody,
    ) -> Outcome:
        """Call a tool and return how it ended; an error is part of the outcome.

        Args:
            name: of the tool.
            arguments: by name, as JSON values.
            report: takes progress.
            principal: who calls; the user of this process when left out.
            ask: the way to that person, for tools that ask something.

        Raises:
            VrError: NOT_FOUND for an unknown tool, naming the nearest.
        """
        tool, services = self._wanted(name)
        if tool.long:
            long_call = self.start(name, arguments, report, principal=principal, ask=ask)
            return await long_call.outcome()
        call = runner.begin(tool, services, principal or self.principal, report, ask=ask)
        return await runner.run(tool, arguments, call, self.listeners)

    def start(
        self,
        name: str,
        arguments: Mapping[str, Any],
        report: ProgressReport = lambda _done, _total, _message: None,
        *,
        principal: str | None = None,
        ask: Asker = ask_nobody,
    ) -> LongCall:
        """Begin a call in the background; `outcome` of what is returned waits for it.

        The arguments are those of `run`.

        Raises:
            VrError: NOT_FOUND for an unknown tool, naming the nearest.
        """
        tool, services = self._wanted(name)
        return self.jobs.start(tool, services, arguments, principal or self.principal, report, ask)

    def serving(self) -> AbstractAsyncContextManager[None]:
        """Take up, meanwhile, what other processes left behind, and watch over the loop."""
        from vr_kernel.isolation.loop_watch import Owners
        from vr_kernel.running.housekeeping import keep_house

        owners = Owners({it.module: it.name for it in self._statuses})
        settings, journal = self.config.kernel, self.config.paths.journal
        return keep_house(settings, self.jobs, self.store, journal, owners, self.log)

    def unknown_tool(self, name: str) -> VrError:
        """The error of a name that no tool bears, with the nearest that one does."""
        return VrError(
            f"No tool {name!r}.",
            Code.NOT_FOUND,
            hint=f"{did_you_mean(name, self.tools)}All are named by tools/list of MCP,"
            " and by `vr plugin list` in a shell.",
        )

    def error_for(self, principal: str | None, error: VrError) -> VrError:
        """Reword an error for a principal: only the owner reads the server's folders in it."""
        if principal in (None, self.principal):
            return error
        from vr_kernel.running.untold import told_to_others

        return told_to_others(error, self.config.paths)

    async def aclose(self) -> None:
        """Stop background work and close every file; later calls are CONFLICT."""
        self.closed = True
        self.patience.hurry()
        await self.jobs.aclose()
        await self.store.aclose()
        await super().aclose()

    def _wanted(self, name: str) -> tuple[Tool, Services]:
        self.require_open()
        if (served := self._served(name)) is None:
            raise self.unknown_tool(name)
        return served

    def _served(self, name: str) -> tuple[Tool, Services] | None:
        tool = self._registry.tools.get(name)
        return None if tool is None else (tool, self._services[tool.plugin])

    def _load(
        self,
        given: list[Candidate] | None,
        loader: Loader,
        tell: Callable[[PluginStatus], None] | None,
    ) -> None:
        kernel = self.config.kernel
        checked = check(
            discover() if given is None else given,
            wanted=kernel.plugins,
            disabled=kernel.disabled,
            kernel_version=VERSION,
        )
        own = PluginStatus(INFRA, "vr-kernel", VERSION)
        contributions = [loader.load(own, lambda: infra, trusted=True)]
        self._statuses.append(own)
        for candidate, status in checked:
            self._statuses.append(status)
            if status.state is State.LOADED:
                contributions.append(loader.load(status, candidate.load, candidate.stamp))
        made = [contribution for contribution in contributions if contribution]
        self._registry.add(made)
        self.store = StoreFollower(
            self.providers, self.journal, self._registry.kinds, self.dead_letters, self.log
        )
        for contribution in made:
            self._admit(contribution)
        for status in self._statuses:
            report(status, self.log, tell, strict=kernel.strict)

    def _admit(self, contribution: Contribution) -> None:
        status = contribution.status
        services = self._services[status.name] = self.services_of(
            status.name, contribution.settings, self._registry.kinds, self.store, self.plugins
        )
        self._health[status.name] = partial(contribution.health, services)
        if contribution.hear is not None:
            self.listeners.add(contribution.hear, services)
        for provider in contribution.providers:
            try:
                self.providers.add(provider, services)
            except VrError as error:
                status.fail(State.CONFLICT, error.message)


def _given(plugins: Mapping[str, object]) -> list[Candidate]:
    def loader(plugin: object) -> Callable[[], object]:
        return lambda: plugin

    return [
        Candidate(
            name, name, "", (), loader(it), module=it.__name__ if isinstance(it, ModuleType) else ""
        )
        for name, it in plugins.items()
    ]
