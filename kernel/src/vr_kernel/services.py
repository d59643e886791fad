"""What a plugin is handed: one frozen object, without globals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vr_kernel.access import Identity

if TYPE_CHECKING:
    from vr_kernel.config.paths import Paths
    from vr_kernel.documents import Documents
    from vr_kernel.files.artifacts import Artifacts
    from vr_kernel.files.digests import Digests
    from vr_kernel.files.policy import Policy
    from vr_kernel.gemini import Gemini
    from vr_kernel.http import Fetcher
    from vr_kernel.jobs.scopes import Scope
    from vr_kernel.journal.archive import Archive
    from vr_kernel.journal.journal import Journal
    from vr_kernel.journal.store_follower import StoreFollower
    from vr_kernel.loading.discovery import PluginStatus
    from vr_kernel.log import Log
    from vr_kernel.models.models import Models
    from vr_kernel.models.usage import Meter, UsageLedger
    from vr_kernel.models.vectors import Vectors
    from vr_kernel.providers import Providers
    from vr_kernel.records import RecordKind
    from vr_kernel.running.job_runner import LongWork
    from vr_kernel.running.single_flight import Flights
    from vr_kernel.storage.cache import Cache
    from vr_kernel.storage.room import RoomOf


@dataclass(frozen=True, slots=True)
class Services:
    """The kernel's services, as one plugin sees them, for one principal.

    `settings` are that plugin's own; `owner` is the principal who runs the program. In a call
    they are those of whoever calls; lifespans have the owner's, and so have providers, but those
    that are made for each call. `room_of` gives the disk space for what is paid for, by a folder.
    """

    plugin: str
    settings: Any
    workspace: str
    owner: str
    paths: Paths
    policy: Policy
    models: Models
    gemini: Gemini
    http: Fetcher
    usage: UsageLedger
    jobs: LongWork
    cache: Cache
    digests: Digests
    documents: Documents
    artifacts: Artifacts
    journal: Journal
    kinds: Mapping[str, RecordKind]
    store: StoreFollower
    vectors: Vectors
    providers: Providers
    plugins: Callable[[], tuple[PluginStatus, ...]]
    log: Log
    flights: Flights
    identity: Identity
    narrow: Callable[[Services, str], Services]
    room_of: RoomOf

    @property
    def archive(self) -> Archive:
        """Records without a call of a tool: of what goes on in the background."""
        from vr_kernel.journal.archive import Archive

        return Archive(self.journal, self.kinds, self.store, self.workspace)

    def of_principal(self, principal: str) -> Services:
        """The same services as that principal has them.

        Raises:
            VrError: INVALID_INPUT, category PRINCIPAL_INVALID, for a name that cannot be one.
        """
        if principal == self.identity.principal:
            return self
        return self.narrow(self, principal)

    def of_call(self, meter: Meter, scope: Scope | None) -> Services:
        """The same services, with models that account for one call; so have its providers."""
        models = self.models.of_call(meter, scope)

        def bind(others: Services) -> Services:
            return others.of_principal(self.identity.principal).of_call(meter, scope)

        return replace(
            self,
            models=models,
            gemini=self.gemini.of_call(models.recorder, scope),
            providers=self.providers.of_call(bind),
        )
