"""The plugins of a kernel: loaded onto its services, each with services of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from vr_kernel.builtin import plugin as builtin
from vr_kernel.composition.opening import not_open
from vr_kernel.config.model_settings import GEMINI
from vr_kernel.errors import Code, VrError, did_you_mean
from vr_kernel.gemini import plugin as gemini
from vr_kernel.journal.store_follower import StoreFollower
from vr_kernel.loading.discovery import (
    INFRA,
    Candidate,
    PluginState,
    PluginStatus,
    check,
    discover,
    report,
)
from vr_kernel.loading.hooks import Hooks
from vr_kernel.loading.loader import Loader
from vr_kernel.loading.registry import Contribution, Registry
from vr_kernel.version import VERSION

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from vr_kernel.calls.context import Context
    from vr_kernel.composition.foundation import Foundation
    from vr_kernel.composition.lifespans import Lifespans
    from vr_kernel.composition.tenants import Tenants
    from vr_kernel.health import Check
    from vr_kernel.services import Services
    from vr_kernel.signatures.schema_cache import ToolSchemas
    from vr_kernel.tools import Tool
    from vr_kernel.views.declaration import Declared
    from vr_kernel.views.service import Views


class Plugins:
    """The loaded plugins: the state of each, all that they offer, and the services of each.

    Args:
        foundation: the services that need no plugin.
    """

    def __init__(self, foundation: Foundation) -> None:
        self._foundation = foundation
        self._tenants: Tenants | None = None
        self.closed = False
        self.statuses: list[PluginStatus] = []
        self.broken: dict[str, PluginStatus] = {}
        self.lifespans: Lifespans | None = None
        self.contexts: dict[str, Context] = {}
        self.health: dict[str, Callable[[], list[Check]]] = {}
        self._views: dict[str, Callable[[], list[Callable[..., Any]]]] = {}
        self.registry = Registry()
        self.store = StoreFollower(
            foundation.providers,
            foundation.journal,
            self.registry.kinds,
            foundation.dead_letters,
            foundation.log,
        )

    def load(
        self,
        given: Mapping[str, object] | None,
        schemas: ToolSchemas | None,
        tell: Callable[[PluginStatus], None] | None,
        *,
        retry: bool,
    ) -> None:
        """Load the given plugins, or those that are installed.

        Args:
            given: name -> plugin object or module; None has them discovered.
            schemas: those of tools, from earlier starts.
            tell: called with each plugin that is not fully available; by default they are logged.
            retry: load again plugins that took long to fail before, even if they have not changed.
        """
        foundation = self._foundation
        settings = foundation.config.kernel
        checked = check(
            discover() if given is None else _candidates(given),
            wanted=settings.plugins,
            disabled=settings.disabled,
            kernel_version=VERSION,
        )
        loader = Loader(
            foundation.config,
            Hooks(),
            foundation.log,
            foundation.redaction,
            schemas,
            again=retry,
        )
        own = PluginStatus(INFRA, "vr-kernel", VERSION)
        provider = PluginStatus(GEMINI, "vr-kernel", VERSION)
        contributions = [
            loader.load(own, lambda: builtin, trusted=True),
            loader.load(provider, lambda: gemini, trusted=True),
        ]
        self.statuses.append(own)
        for candidate, status in checked:
            self.statuses.append(status)
            if status.state is PluginState.LOADED:
                contributions.append(loader.load(status, candidate.load, candidate.stamp))
        made = [contribution for contribution in contributions if contribution]
        self.registry.add(made)
        foundation.journal.declare([*self.registry.kinds.values()])
        own.offers["providers"] += provider.offers["providers"]  # one row for all of the kernel's
        for contribution in made:
            self._admit(contribution)
        for status in self.statuses:
            report(status, foundation.log, tell, strict=settings.strict)
        if any(contribution.lifespan for contribution in made):
            self._prepare(made)

    async def begin(self) -> None:
        """Enter the lifespans, once.

        Raises:
            VrError: CONFLICT, category PLUGIN_REFUSED, when strict; or as `require_open`.
        """
        self.require_open()
        if self.lifespans is not None:
            await self.lifespans.enter()

    def require_open(self) -> None:
        """Refuse work once the kernel is closed.

        Raises:
            VrError: CONFLICT, category KERNEL_CLOSED.
        """
        if self.closed:
            raise not_open("closed")

    def find(self, name: str) -> tuple[Tool, Context]:
        """Return a tool, and the services of its plugin.

        Raises:
            VrError: NOT_FOUND for an unknown tool, naming the nearest; as `require`.
        """
        self.require_open()
        if (tool := self.registry.tools.get(name)) is None:
            raise self.unknown_tool(name)
        return tool, self.require(tool.plugin)

    def require(self, name: str) -> Context:
        """Return the services of a loaded plugin.

        Raises:
            VrError: NOT_FOUND for an unknown plugin, naming the nearest; UNAVAILABLE, category
                PLUGIN_BROKEN, for one whose lifespan could not begin.
        """
        self.require_open()
        if name in self.broken:
            raise self.broken[name].as_broken()
        if (context := self.contexts.get(name)) is None:
            near = did_you_mean(name, self.contexts)
            hint = f"{near}`vr plugin list` names all, and says why one is not loaded."
            raise VrError(f"No plugin {name!r} is loaded.", Code.NOT_FOUND, hint=hint)
        return context

    def unknown_tool(self, name: str) -> VrError:
        """Return the error of an unknown tool, with the nearest name that exists."""
        return VrError(
            f"No tool {name!r}.",
            Code.NOT_FOUND,
            hint=f"{did_you_mean(name, self.registry.tools)}All are named by tools/list of MCP,"
            " or found by tool_search where that is listed, and by `vr plugin list` in a shell.",
        )

    def keep_house(self) -> AbstractAsyncContextManager[None]:
        """Do the background work of a server during an `async with`."""
        from vr_kernel.isolation.loop_watch import Owners
        from vr_kernel.running.housekeeping import keep_house

        owners = Owners({it.module: it.name for it in self.statuses})
        config, foundation = self._foundation.config, self._foundation
        return keep_house(
            config.kernel,
            foundation.jobs,
            self.store,
            config.paths.journal,
            owners,
            foundation.log,
            foundation.artifact_limit,
        )

    async def aclose(self) -> None:
        """Let listeners end, leave the lifespans, and stop the store."""
        await self._foundation.request_listeners.settle()
        await self._foundation.listeners.settle()
        if self.lifespans is not None:
            await self.lifespans.leave()
        await self.store.aclose()

    def close_tenants(self) -> None:
        """Close the files of other workspaces than the owner's."""
        if self._tenants is not None:
            self._tenants.close()

    def list(self) -> tuple[PluginStatus, ...]:
        """List every installed plugin and its state."""
        return tuple(self.statuses)

    def _prepare(self, contributions: Sequence[Contribution]) -> None:
        from vr_kernel.composition.lifespans import Lifespan, Lifespans

        foundation, settings = self._foundation, self._foundation.config.kernel
        each = [
            Lifespan(made.status, made.lifespan, self.contexts[made.status.name].services)
            for made in contributions
            if made.lifespan is not None
        ]
        self.lifespans = Lifespans(
            each, foundation.log, self._drop, settings.import_deadline_s, strict=settings.strict
        )

    def _drop(self, name: str) -> None:
        """Use a plugin no more whose lifespan did not begin."""
        self.broken[name] = next(it for it in self.statuses if it.name == name)
        for listeners in (self._foundation.listeners, self._foundation.request_listeners):
            listeners.remove(name)
        self._foundation.providers.remove(name)

    def _narrow(self, context: Context, principal: str) -> Context:
        from vr_kernel.composition.tenants import Tenants  # most programs have one principal

        self._tenants = self._tenants or Tenants(self._foundation)
        return self._tenants.narrowed(context, principal)

    @cached_property
    def _declared_views(self) -> Declared:
        from vr_kernel.views.declaration import declared_views

        registry, foundation = self.registry, self._foundation
        kinds = {it: plugin for it, plugin in registry.kind_owners.items() if plugin != INFRA}
        owners = {("kind", it): plugin for it, plugin in kinds.items()}
        owners |= {("tool", it.name): it.plugin for it in registry.tools.values()}
        strict = foundation.config.kernel.strict
        # Plugins fill the kernel's kinds: its own view of one is for where none of them has any.
        hooks = dict(sorted(self._views.items(), key=lambda it: it[0] == INFRA))
        return declared_views(hooks, owners, foundation.log, strict=strict)

    def _views_of(self, services: Services) -> Views:
        from vr_kernel.views.service import Views

        def services_of(plugin: str, principal: str) -> Services:
            return self.require(plugin).of_principal(principal).services

        return Views(self._declared_views, self.registry.tools, services_of, services)

    def _admit(self, contribution: Contribution) -> None:
        status, foundation = contribution.status, self._foundation
        context = self.contexts[status.name] = foundation.context_of(
            status.name,
            contribution.settings,
            self.registry.kinds,
            self.store,
            self.list,
            self._narrow,
            self._views_of,
        )
        self._views[status.name] = contribution.views
        services = context.services
        self.health[status.name] = partial(contribution.health, services)
        if contribution.hear is not None:
            foundation.listeners.add(contribution.hear, services)
        if contribution.hear_requests is not None:
            foundation.request_listeners.add(contribution.hear_requests, services)
        for provider in contribution.providers:
            try:
                foundation.providers.add(provider, context)
            except VrError as error:
                status.fail(PluginState.CONFLICT, error.message)


def _candidates(plugins: Mapping[str, object]) -> list[Candidate]:
    def loader(plugin: object) -> Callable[[], object]:
        return lambda: plugin

    return [
        Candidate(
            name, name, "", (), loader(it), module=it.__name__ if isinstance(it, ModuleType) else ""
        )
        for name, it in plugins.items()
    ]
