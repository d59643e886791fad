"""Workspaces other than the owner's, each with its own results, files and shared work."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vr_kernel.access import Access, Identity
from vr_kernel.calls.context import Context
from vr_kernel.files.artifacts import Artifacts
from vr_kernel.files.policy import Policy
from vr_kernel.running.single_flight import SingleFlights

if TYPE_CHECKING:
    from vr_kernel.calls.result_cache import ResultCache
    from vr_kernel.composition.foundation import Foundation


ASK_OWNER = "Ask the owner of the server for another: `roots` in [kernel.serve] of config.toml."
"""Hint for a user who cannot change the configuration."""


@dataclass(frozen=True, slots=True)
class Tenant:
    """The services that one workspace has for itself."""

    cache: ResultCache
    single_flights: SingleFlights
    artifacts: Artifacts


class Tenants:
    """The workspaces other than the owner's; each is opened at its first use.

    Args:
        foundation: the owner's services, and what all share.
    """

    def __init__(self, foundation: Foundation) -> None:
        self._foundation = foundation
        self._access = Access(foundation.config.serve, foundation.identity)
        self._tenants: dict[str, Tenant] = {}
        self._policies: dict[Identity, Policy] = {}

    def narrowed(self, context: Context, principal: str) -> Context:
        """Return the services of a plugin for a principal.

        Raises:
            VrError: as `Access.identify`.
        """
        identity = self._access.identify(principal)
        foundation, workspace = self._foundation, identity.workspace
        shared = workspace == foundation.identity.workspace
        tenant = self._tenants.get(workspace) or self._opened(workspace, owners=shared)
        return replace(
            context,
            identity=identity,
            workspace=workspace,
            policy=foundation.policy if identity.is_owner else self._policy(identity, tenant),
            cache=tenant.cache,
            single_flights=tenant.single_flights,
            artifacts=tenant.artifacts,
            models=foundation.models.of_workspace("" if shared else workspace, tenant.artifacts),
            gemini=foundation.gemini.of_workspace("" if shared else workspace),
        )

    def close(self) -> None:
        """Close every file."""
        for tenant in self._tenants.values():
            tenant.cache.close()

    def _opened(self, workspace: str, *, owners: bool) -> Tenant:
        foundation = self._foundation
        if owners:
            tenant = Tenant(foundation.cache, foundation.single_flights, foundation.artifacts)
        else:
            folder = foundation.config.paths.of_workspace(workspace)
            cache = foundation.cache_of(workspace)
            flights = SingleFlights(cache, foundation.single_flights.leases, workspace)
            tenant = Tenant(cache, flights, Artifacts(folder.artifacts))
        return self._tenants.setdefault(workspace, tenant)

    def _policy(self, identity: Identity, tenant: Tenant) -> Policy:
        if identity not in self._policies:
            own, reserved = tenant.artifacts.folder, self._foundation.config.paths.all
            made = Policy(identity.roots, allow_by=ASK_OWNER, untold=own, reserved=reserved)
            self._policies[identity] = made
        return self._policies[identity]
