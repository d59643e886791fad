"""The services that a plugin is given: one frozen object, without globals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from vr_kernel.access import Identity
    from vr_kernel.config.paths import Paths
    from vr_kernel.files.artifacts import Artifacts
    from vr_kernel.files.digests import Digests
    from vr_kernel.files.policy import Policy
    from vr_kernel.http.fetcher import Fetcher
    from vr_kernel.journal.archive import Archive
    from vr_kernel.journal.store_follower import StoreFollower
    from vr_kernel.log import Log
    from vr_kernel.protocols.models import Gemini, Models, UsageReader
    from vr_kernel.protocols.records import Cache, Journal, SearchableStore, Vectors
    from vr_kernel.protocols.work import Documents, InstalledPlugin, Jobs, Leases, Providers
    from vr_kernel.records import RecordKind
    from vr_kernel.state.journal import JournalTable
    from vr_kernel.state.rows import Rows, RowsOf
    from vr_kernel.storage.room import RoomOf
    from vr_kernel.views.service import Views


@dataclass(frozen=True, slots=True)
class Services:
    """The kernel's services, as one plugin sees them, for one principal.

    In a call they are the caller's. Hooks that run outside of calls, such as `vr_health`, and
    providers that are not made for each call, have the owner's.

    Attributes:
        plugin: the name of that plugin.
        settings: its own validated settings.
        identity: the principal they are for.
        workspace: the workspace of that principal.
        paths: the folders of the installation.
        policy: the files that may be read.
        models: the only access to language models.
        gemini: uploads, context caches and research, which only Gemini has.
        http: fetches pages and files of the web.
        usage: the ledger of requests to models and their cost.
        jobs: calls in the background.
        leases: names that one process at a time owns.
        cache: results that are kept between runs.
        digests: the identity of files by their content.
        documents: the readers of documents.
        artifacts: files that tools produce.
        journal: every record in order.
        kinds: the record kinds of all plugins by name.
        store: the store that follows the journal.
        vectors: embeddings, each computed once.
        providers: what plugins provide to each other.
        plugins: lists the installed plugins and their state.
        log: the log, with the plugin's name in every line.
        room_of: the disk space, by folder, that is reserved for paid results.
        rows_of: opens `rows` by namespace, workspace and principal.
        views_of: makes `views`.
    """

    plugin: str
    settings: Any
    identity: Identity
    workspace: str
    paths: Paths
    policy: Policy
    models: Models
    gemini: Gemini
    http: Fetcher
    usage: UsageReader
    jobs: Jobs
    leases: Leases
    cache: Cache
    digests: Digests
    documents: Documents
    artifacts: Artifacts
    journal: Journal
    kinds: Mapping[str, RecordKind]
    store: SearchableStore
    vectors: Vectors
    providers: Providers
    plugins: Callable[[], tuple[InstalledPlugin, ...]]
    log: Log
    room_of: RoomOf
    rows_of: RowsOf
    views_of: Callable[[Services], Views]

    @property
    def rows(self) -> Rows:
        """JSON values that the plugin keeps for this principal, in this workspace."""
        return self.rows_of(self.plugin, self.workspace, self.identity.mark)

    @property
    def views(self) -> Views:
        """Results, records and sources as data to be shown."""
        return self.views_of(self)

    @property
    def archive(self) -> Archive:
        """Records that no call of a tool produced, such as those of an import."""
        from vr_kernel.journal.archive import Archive

        journal, store = cast("JournalTable", self.journal), cast("StoreFollower", self.store)
        return Archive(journal, self.kinds, store, self.workspace)
