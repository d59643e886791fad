"""All services behind a call; plugins are given the subset that `Services` names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Protocol

from vr_kernel.protocols.models import Gemini
from vr_kernel.services import Services

if TYPE_CHECKING:
    from vr_kernel.access import Identity
    from vr_kernel.calls.result_cache import ResultCache
    from vr_kernel.config.paths import Paths
    from vr_kernel.files.artifacts import Artifacts
    from vr_kernel.files.digests import Digests
    from vr_kernel.files.policy import Policy
    from vr_kernel.http.fetcher import Fetcher
    from vr_kernel.jobs.leases import LedgerLeases
    from vr_kernel.jobs.scopes import Scope
    from vr_kernel.jobs.steps import Steps
    from vr_kernel.journal.store_follower import StoreFollower
    from vr_kernel.log import Log
    from vr_kernel.models.models import LanguageModels
    from vr_kernel.models.recorder import UsageRecorder
    from vr_kernel.models.usage import Meter, UsageLedger
    from vr_kernel.models.vectors import VectorCache
    from vr_kernel.protocols.work import Documents, InstalledPlugin, Jobs
    from vr_kernel.providers import ProviderRegistry
    from vr_kernel.records import RecordKind
    from vr_kernel.state.journal import JournalTable
    from vr_kernel.state.protocols import State
    from vr_kernel.state.rows import RowsOf
    from vr_kernel.storage.room import RoomOf
    from vr_kernel.views.service import Views


class GeminiOfCalls(Gemini, Protocol):
    """Gemini, which accounts for each call and keeps workspaces apart."""

    def of_call(self, recorder: UsageRecorder, scope: Scope | None) -> GeminiOfCalls:
        """Return the same service, accounting for one call."""

    async def context_caches(self) -> Sequence[Any]:
        """List every context cache of this workspace that has not ended."""


@dataclass(frozen=True, slots=True)
class Context:
    """The services of one plugin, for one principal, as the kernel works with them.

    `single_flights` does equal work of a workspace only once; `narrow` returns the context of
    another principal for the same plugin.
    """

    plugin: str
    settings: Any
    identity: Identity
    workspace: str
    paths: Paths
    policy: Policy
    models: LanguageModels
    gemini: GeminiOfCalls
    http: Fetcher
    usage: UsageLedger
    jobs: Jobs
    leases: LedgerLeases
    steps: Steps
    state: State
    cache: ResultCache
    digests: Digests
    documents: Documents
    artifacts: Artifacts
    journal: JournalTable
    kinds: Mapping[str, RecordKind]
    store: StoreFollower
    vectors: VectorCache
    providers: ProviderRegistry
    plugins: Callable[[], tuple[InstalledPlugin, ...]]
    log: Log
    single_flights: Any
    narrow: Callable[[Context, str], Context]
    room_of: RoomOf
    rows_of: RowsOf
    views_of: Callable[[Services], Views]

    @property
    def services(self) -> Services:
        """The subset that the plugin is given."""
        return Services(**{name: getattr(self, name) for name in _HANDED})

    def of_principal(self, principal: str) -> Context:
        """Return the context of that principal for the same plugin.

        Raises:
            VrError: INVALID_INPUT, category PRINCIPAL_INVALID, for a name that cannot be one.
        """
        if principal == self.identity.principal:
            return self
        return self.narrow(self, principal)

    def of_call(self, meter: Meter, scope: Scope | None) -> Context:
        """Return the same context, with models and providers that account for one call."""
        models = self.models.of_call(meter, scope)

        def bind(owner: Context) -> Context:
            return owner.of_principal(self.identity.principal).of_call(meter, scope)

        return replace(
            self,
            models=models,
            gemini=self.gemini.of_call(models.recorder, scope),
            vectors=self.vectors.of_call(models),
            providers=self.providers.of_call(bind),
        )


_HANDED = tuple(field.name for field in fields(Services))
