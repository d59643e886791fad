"""The kernel: plugins and services of one configuration, and the calls of their tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from pydantic import BaseModel

from vr_kernel.composition.foundation import Foundation
from vr_kernel.composition.opening import Opening
from vr_kernel.composition.plugins import Plugins
from vr_kernel.config.config import Config, load_config
from vr_kernel.errors import VrError
from vr_kernel.isolation.plugin_code import contained
from vr_kernel.loading.discovery import INFRA
from vr_kernel.progress import Report, silent
from vr_kernel.running import runner
from vr_kernel.running.origins import CallOptions, origin_of

if TYPE_CHECKING:
    from vr_kernel.access import Identity
    from vr_kernel.call import Call
    from vr_kernel.calls.context import Context
    from vr_kernel.commands import Command
    from vr_kernel.health import Check
    from vr_kernel.loading.discovery import PluginStatus
    from vr_kernel.log import Log
    from vr_kernel.prompts import Message, Prompt
    from vr_kernel.resources import Reading, Resource
    from vr_kernel.running.runner import Outcome
    from vr_kernel.running.running_job import RunningCall
    from vr_kernel.services import Services
    from vr_kernel.signatures.schema_cache import ToolSchemas
    from vr_kernel.state.jobs import Job
    from vr_kernel.state.protocols import State
    from vr_kernel.tools import Tool


class Kernel:
    """Plugins and services of one configuration. Several kernels can live in one process.

    Args:
        plugins: name -> plugin object or module; those that are installed when left out.
        roots: folders below which files may be read, besides the configured ones.
        schemas: those of tools, from earlier starts.
        tell: called with each plugin that is not fully available.
        retry: load plugins again that took long to fail before.
        handed: whether a client handed the environment over, with its keys.
        state: keeps what outlives a call; files of the state folder when left out.

    Attributes:
        config: the settings.
        services: those of the kernel's own tools, for the owner.
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
        handed: bool = False,
        state: State | None = None,
    ) -> None:
        self.config = config
        self._foundation = Foundation(config, roots, state, handed)
        self._foundation.jobs.serve(self._served)
        self._plugins = Plugins(self._foundation)
        self._plugins.load(plugins, schemas, tell, retry=retry)
        self.services: Services = self._plugins.contexts[INFRA].services
        for remark in config.remarks.values():
            self.log.warning(remark)

    @classmethod
    def open(
        cls,
        config: Config | None = None,
        plugins: Mapping[str, object] | None = None,
        *,
        roots: Sequence[str | Path] | None = None,
        state: State | None = None,
    ) -> AbstractAsyncContextManager[Kernel]:
        """Open a kernel for an `async with`; files below the working folder may be read.

        Raises:
            VrError: INVALID_INPUT, category CONFIG_INVALID.
        """
        folders = (Path.cwd(),) if roots is None else roots
        return Opening(lambda: cls(config or load_config(), plugins, roots=folders, state=state))

    @property
    def identity(self) -> Identity:
        """The owner: the user of this process, and the workspace that is configured."""
        return self._foundation.identity

    @property
    def log(self) -> Log:
        """The log of the program."""
        return self._foundation.log

    @property
    def tools(self) -> Mapping[str, Tool]:
        """All tools by name, sorted."""
        return dict(sorted(self._plugins.registry.tools.items()))

    @property
    def prompts(self) -> Mapping[str, Prompt]:
        """All prompts by name, sorted."""
        return dict(sorted(self._plugins.registry.prompts.items()))

    @property
    def resources(self) -> Mapping[str, Resource]:
        """All resources and families of them by address, sorted."""
        return dict(sorted(self._plugins.registry.resources.items()))

    @property
    def commands(self) -> list[Command]:
        """The commands of plugins that are no tools, sorted."""
        return [found for _, found in sorted(self._plugins.registry.commands.items())]

    @property
    def health(self) -> Mapping[str, Callable[[], list[Check]]]:
        """The checks of each loaded plugin, by its name: functions that list them."""
        return dict(self._plugins.health)

    @property
    def settings(self) -> Mapping[str, BaseModel]:
        """The validated settings of each loaded plugin that has any."""
        return {k: it.settings for k, it in self._plugins.contexts.items() if it.settings}

    def plugins(self) -> tuple[PluginStatus, ...]:
        """List every installed plugin and its state."""
        return self._plugins.list()

    @property
    def has_lifespans(self) -> bool:
        """True when `begin` has something to do."""
        return self._plugins.lifespans is not None

    async def begin(self) -> None:
        """Enter the lifespans of plugins, once: `open`, `serving`, calls and readings do it.

        Raises:
            VrError: CONFLICT, category PLUGIN_REFUSED, of the first that fails, when strict.
        """
        await self._plugins.begin()

    async def call(self, name: str, /, **arguments: Any) -> BaseModel:
        """Call a tool and return its result model.

        Raises:
            VrError: what the tool raised; NOT_FOUND for an unknown tool.
        """
        outcome = await self.run(name, arguments)
        if outcome.result is None:
            raise outcome.error or AssertionError("a call without a result has an error")
        return outcome.result

    async def run(
        self,
        name: str,
        arguments: Mapping[str, Any],
        report: Report = silent,
        **options: Unpack[CallOptions],
    ) -> Outcome:
        """Call a tool with JSON arguments and return how it ended, maybe with an error.

        Args:
            name: of the tool.
            arguments: by name, as JSON values.
            report: takes progress.
            options: who calls, under which id, in which trace: see `CallOptions`.

        Raises:
            VrError: NOT_FOUND for an unknown tool, naming the nearest; INVALID_INPUT, category
                ID_INVALID; UNAVAILABLE, category PLUGIN_BROKEN, when the plugin could not begin.
        """
        tool, context = await self._served(name)
        if tool.long:
            return await self.start(name, arguments, report, **options).outcome()
        call = runner.begin(tool, context, report, origin_of(options, self.identity.principal))
        return await runner.run(tool, arguments, call, self._foundation.listeners)

    async def preview(
        self, name: str, arguments: Mapping[str, Any], **options: Unpack[CallOptions]
    ) -> Outcome:
        """Say what a call as of `run` would cost, as an `Estimate`; no model is asked."""
        return await self.run("infra_estimate", {"tool": name, "arguments": arguments}, **options)

    def start(
        self,
        name: str,
        arguments: Mapping[str, Any],
        report: Report = silent,
        **options: Unpack[CallOptions],
    ) -> RunningCall:
        """Begin a call in the background; `outcome` of what is returned waits for it.

        Arguments and errors are those of `run`.
        """
        origin = origin_of(options, self.identity.principal)
        return self._foundation.jobs.start(*self._plugins.find(name), arguments, origin, report)

    @asynccontextmanager
    async def turn(
        self,
        plugin: str,
        name: str,
        id: str,  # noqa: A002 - the word for it
        report: Report = silent,
        **options: Unpack[CallOptions],
    ) -> AsyncIterator[Call]:
        """Give a front door of a plugin a call for work that is no tool, such as a turn of a chat.

        At a clean end its records are committed as a tool's are. When the block fails, or the
        process dies, the same `id` finds its committed steps and paid replies again. An id has one
        owner: a second one waits as long as a dead owner's lease may last. `name` stands for that
        of a tool in usage and provenance; the options are those of `run`, without `call_id`.

        Raises:
            VrError: NOT_FOUND for an unknown plugin; INVALID_INPUT, category ID_INVALID; CONFLICT,
                category TURN_BUSY or LEASE_LOST; UNAVAILABLE when its end cannot be journalled.
        """
        from vr_kernel.running.turns import open_turn

        await self.begin()
        origin = origin_of(options, self.identity.principal)
        work = (self._plugins.require(plugin), name, id, origin, report)
        async with open_turn(*work, self._foundation.listeners) as call:
            yield call

    async def detach(self, running: RunningCall) -> Job:
        """Let a call go on as a job after its client was answered.

        Raises:
            TypeError: when `start` did not return it.
            VrError: UNAVAILABLE when the ledger of jobs cannot be written.
        """
        return await self._foundation.jobs.detach(running)

    def write(self, prompt: Prompt, arguments: Mapping[str, Any]) -> list[Message]:
        """Write the messages of a prompt.

        Raises:
            VrError: INVALID_INPUT for arguments that do not fit; INTERNAL when the prompt failed.
        """
        self._plugins.require(prompt.plugin)
        with contained(f"Prompt {prompt.name}", prompt.plugin, self.log):
            return prompt.write(arguments)

    async def read(
        self, resource: Resource, arguments: Mapping[str, Any], by: str | None = None
    ) -> Reading:
        """Read the content at an address of a resource, with these parts, for a principal.

        Raises:
            VrError: what the resource raised; INTERNAL when it failed in another way.
        """
        await self.begin()
        context = self._plugins.require(resource.plugin).of_principal(by or self.identity.principal)
        with contained(f"Resource {resource.uri}", resource.plugin, self.log):
            return await resource.read(context.services, arguments)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Resume jobs of dead processes, and watch the loop, during an `async with`."""
        async with self._plugins.keep_house():
            await self.begin()
            yield

    def error_for(self, principal: str | None, error: VrError) -> VrError:
        """Reword an error for a principal: only the owner sees the server's folders in it."""
        if principal in (None, self.identity.principal):
            return error
        from vr_kernel.running.untold import told_to_others

        return told_to_others(error, self.config.paths)

    def unknown_tool(self, name: str) -> VrError:
        """Return the error of an unknown tool, with the nearest name that exists."""
        return self._plugins.unknown_tool(name)

    async def aclose(self) -> None:
        """Stop background work and close every file; later calls are CONFLICT."""
        self._plugins.closed = True
        self._foundation.patience.hurry()
        await self._foundation.jobs.aclose()
        await self._plugins.aclose()
        await self._foundation.aclose()
        self._plugins.close_tenants()

    async def _served(self, name: str) -> tuple[Tool, Context]:
        await self.begin()
        return self._plugins.find(name)
