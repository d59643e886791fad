"""What each workspace has of its own: results, files, equal work; and whose services are which."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vr_kernel.access import Access
from vr_kernel.cache import Cache
from vr_kernel.errors import VrError
from vr_kernel.files.artifacts import Artifacts
from vr_kernel.files.policy import Policy
from vr_kernel.flight import Flights
from vr_kernel.services import Identity, Services

if TYPE_CHECKING:
    from vr_kernel.foundation import Foundation


@dataclass(frozen=True, slots=True)
class Room:
    """What one workspace has of its own."""

    cache: Cache
    flights: Flights
    artifacts: Artifacts


class Rooms:
    """The workspaces beside the owner's; each is opened when somebody comes.

    Args:
        house: the owner's services, and what all share.
        warn: told once a workspace when its cache cannot be used.
    """

    def __init__(self, house: Foundation, warn: Callable[[VrError], None]) -> None:
        self._house = house
        self._warn = warn
        self._access = Access(house.config.serve, house.identity)
        self._rooms: dict[str, Room] = {}
        self._policies: dict[Identity, Policy] = {}

    def narrowed(self, services: Services, principal: str) -> Services:
        """The services of a plugin as a principal has them.

        Raises:
            VrError: as `Access.identify`.
        """
        identity = self._access.identify(principal)
        house, workspace = self._house, identity.workspace
        shared = workspace == house.identity.workspace
        room = self._rooms.get(workspace) or self._opened(workspace, owners=shared)
        return replace(
            services,
            identity=identity,
            workspace=workspace,
            policy=house.policy if identity.is_owner else self._policy(identity, room),
            cache=room.cache,
            flights=room.flights,
            artifacts=room.artifacts,
            models=house.models.of_workspace("" if shared else workspace, room.artifacts),
            gemini=house.gemini.of_workspace("" if shared else workspace),
        )

    def close(self) -> None:
        """Close every file."""
        for room in self._rooms.values():
            room.cache.close()

    def _opened(self, workspace: str, *, owners: bool) -> Room:
        house, config = self._house, self._house.config
        if owners:
            room = Room(house.cache, house.flights, house.artifacts)
        else:
            ttl_days = config.kernel.cache_ttl_days
            folder = config.paths.of_workspace(workspace)
            cache = Cache(folder.cache / "results.db", ttl_days=ttl_days, warn=self._warn)
            flights = Flights(cache, house.flights.leases, workspace)
            room = Room(cache, flights, Artifacts(folder.artifacts))
        return self._rooms.setdefault(workspace, room)

    def _policy(self, identity: Identity, room: Room) -> Policy:
        if identity not in self._policies:
            self._policies[identity] = Policy([room.artifacts.folder, *identity.roots])
        return self._policies[identity]
