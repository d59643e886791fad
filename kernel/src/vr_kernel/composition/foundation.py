"""The services that need no plugin: files, databases, models, jobs."""

from __future__ import annotations

import asyncio
import getpass
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vr_kernel.access import Identity
from vr_kernel.calls.context import Context
from vr_kernel.composition.language_models import compose_models
from vr_kernel.config.config import Config
from vr_kernel.config.model_settings import ModelConfiguration
from vr_kernel.errors import VrError
from vr_kernel.exports import deferred
from vr_kernel.files.artifacts import Artifacts
from vr_kernel.files.policy import Policy
from vr_kernel.gemini.service import GeminiService
from vr_kernel.http import Fetcher
from vr_kernel.jobs.jobs import JobLedger
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.jobs.steps import Steps
from vr_kernel.journal.dead_letters import (
    FORMER_FILE,
    NAMESPACE,
    DeadLetters,
    former_tables,
)
from vr_kernel.journal.store_follower import StoreFollower
from vr_kernel.log import Log
from vr_kernel.models.usage import UsageLedger
from vr_kernel.models.vectors import VectorCache
from vr_kernel.protocols.work import InstalledPlugin
from vr_kernel.providers import ProviderRegistry
from vr_kernel.records import RecordKind
from vr_kernel.running.document_loaders import LoadedDocuments
from vr_kernel.running.job_runner import JobRunner
from vr_kernel.running.listeners import REQUEST, Listeners
from vr_kernel.running.single_flight import SingleFlights
from vr_kernel.state.sqlite.state import SqliteState
from vr_kernel.storage.database_errors import told_by
from vr_kernel.storage.patience import Patience
from vr_kernel.text.redaction import Redaction, secrets_of

if TYPE_CHECKING:
    from vr_kernel.calls.result_cache import ResultCache
    from vr_kernel.files.digests import Digests
    from vr_kernel.running.artifact_limit import ArtifactLimit
    from vr_kernel.services import Services
    from vr_kernel.state.adopting import AdoptingRows
    from vr_kernel.state.adoption import Adopt
    from vr_kernel.state.protocols import State
    from vr_kernel.state.rows import OpenRows, Rows
    from vr_kernel.storage.room import Room, Rooms
    from vr_kernel.views.service import Views


class Foundation:
    """The services of one configuration, without plugins. Nothing is opened before use."""

    def __init__(
        self,
        config: Config,
        roots: Sequence[str | Path] = (),
        state: State | None = None,
        handed: bool = False,
    ) -> None:
        self.config = config
        self.redaction = Redaction(secrets_of(config.environ, [config.models, config.serve]))
        self.log = Log(config.kernel.log_level, config.kernel.log_format, redact=self.redaction)
        self.identity = Identity(_user(), config.store.workspace, is_owner=True)
        self._rooms: Rooms | None = None
        self.listeners = Listeners(self.log)
        self.request_listeners = Listeners(self.log, what=REQUEST)
        self.artifacts = Artifacts(config.paths.artifacts)
        # A single folder given as text would be read as a sequence of letters.
        folders = [roots] if isinstance(roots, str) else roots
        allowed = [*folders, *config.kernel.allowed_roots, config.paths.artifacts]
        self.policy = Policy(allowed, reserved=config.paths.all)
        self.http = Fetcher(config.http, log=self.log)
        self.patience = Patience()
        self.patience.room_of = self.room_of
        self._build_storage(state)
        self._build_models(handed=handed)
        self._build_jobs()

    def context_of(
        self,
        plugin: str,
        settings: Any,
        kinds: Mapping[str, RecordKind],
        store: StoreFollower,
        plugins: Callable[[], tuple[InstalledPlugin, ...]],
        narrow: Callable[[Context, str], Context],
        views_of: Callable[[Services], Views],
    ) -> Context:
        """Return the services of one plugin, for the owner.

        Args:
            plugin: its name.
            settings: its own.
            kinds: of all plugins.
            store: the one that follows the journal.
            plugins: lists what is installed.
            narrow: returns the context of another principal.
            views_of: makes the views of a principal.
        """
        return Context(
            plugin=plugin,
            settings=settings,
            identity=self.identity,
            workspace=self.identity.workspace,
            paths=self.config.paths,
            policy=self.policy,
            models=self.models,
            gemini=self.gemini,
            http=self.http,
            usage=self.usage,
            jobs=self.jobs,
            leases=self.leases,
            steps=self.steps,
            state=self.state,
            cache=self.cache,
            digests=self.digests,
            documents=LoadedDocuments(self.providers),
            artifacts=self.artifacts,
            journal=self.journal,
            kinds=kinds,
            store=store,
            vectors=self.vectors,
            providers=self.providers,
            plugins=plugins,
            log=self.log.bind(plugin=plugin),
            single_flights=self.single_flights,
            narrow=narrow,
            room_of=self.room_of,
            rows_of=self.rows_of,
            views_of=views_of,
        )

    async def aclose(self) -> None:
        """Finish what is being written, and close every file and connection."""
        await self.models.recorder.settle()
        if self._rooms is not None:
            await asyncio.to_thread(self._rooms.close)
        await self.vectors.aclose()
        await self.providers.aclose()
        await self.gemini.aclose()
        await self.http.aclose()
        await self.leases.aclose()
        await self.journal.aclose()
        for file in (self.cache, self.digests, self.usage, self.state):
            file.close()
        self.log.tell_counted()

    def room_of(self, folder: Path) -> Room:
        """The disk space for paid results on the file system of a folder."""
        from vr_kernel.storage.room import Rooms  # often nothing is ever paid for

        self._rooms = self._rooms or Rooms(self.log)
        return self._rooms.of(folder)

    def artifact_limit(self) -> ArtifactLimit:
        """Return the limit of artifacts, which a server keeps."""
        from vr_kernel.running.artifact_limit import ArtifactLimit

        config, owner = self.config, self.identity.workspace
        return ArtifactLimit(config.paths, owner, self.state, config.kernel.artifacts_mb, self.log)

    def rows_of(self, namespace: str, workspace: str = "", principal: str = "") -> Rows:
        """The rows of a place; their file is opened at first use."""
        from vr_kernel.state.rows import Place

        return self.state.rows.of(Place(namespace, workspace, principal))

    def cache_of(self, workspace: str = "") -> ResultCache:
        """The results of a workspace, the owner's when it is not named."""

        def made() -> ResultCache:
            from vr_kernel.calls.result_cache import ResultCache

            ttl_days = self.config.kernel.cache_ttl_days
            table = self.state.cache(workspace)
            return ResultCache(
                table, ttl_days=ttl_days, warn=self._warn_no_cache, workspace=workspace
            )

        return deferred(made)

    def _adopting(
        self, name: str, namespace: str, tables: Callable[[], Mapping[str, Adopt]]
    ) -> OpenRows:
        """Return a function that opens rows which an earlier version kept in a file."""
        rows: AdoptingRows | None = None

        async def opened() -> Rows:
            nonlocal rows
            if rows is None:
                from vr_kernel.state.adopting import AdoptingRows

                file, now = self.config.paths.state / name, partial(self.rows_of, namespace)
                rows = AdoptingRows(file, now, self.leases, tables, told_by(self.log))
            return await rows.opened()

        return opened

    def _build_storage(self, state: State | None) -> None:
        paths = self.config.paths
        tell, patience = told_by(self.log), self.patience
        self.state: State = state or SqliteState(
            paths,
            lease_s=self.config.kernel.lease_s,
            owner=self.identity.principal,
            store=lambda: self.config.store.backend,
            tell=tell,
            patience=patience,
        )
        self.journal = self.state.journal
        self.cache = self.cache_of()
        self.digests = deferred(self._open_digests)
        self.providers = ProviderRegistry(self._choice)
        self.leases = LedgerLeases(self.state)
        self.dead_letters = DeadLetters(self._adopting(FORMER_FILE, NAMESPACE, former_tables))
        vectors = deferred(lambda: self.state.vectors)
        self.vectors = VectorCache(vectors, self.providers, self.leases)

    def _open_digests(self) -> Digests:
        from vr_kernel.files.digests import Digests

        return Digests(self.config.paths.cache / "digests.db", told_by(self.log), self.patience)

    def _choice(self, kind: str) -> str:
        """The provider that configuration names, also by a plugin's variable."""
        choices = {
            "Store": self.config.store.backend,
            "Embedder": self.config.store.embedder,
            "TextRecognizer": self.config.kernel.text_recognizer,
        }
        return choices.get(kind, "")

    def _build_models(self, *, handed: bool) -> None:
        configuration = ModelConfiguration(self.config.models)
        self.usage = UsageLedger(deferred(lambda: self.state.usage), self._warn_no_ledger)
        self.gemini = GeminiService(
            lambda: configuration.current,
            self._adopting("gemini.db", "gemini", _former_uploads),
            self.log,
            self.leases,
        )
        self.models = compose_models(self, configuration, handed=handed)

    def _build_jobs(self) -> None:
        self.single_flights = SingleFlights(self.cache, self.leases)
        self.steps = Steps(self.state)
        self.jobs = JobRunner(
            jobs=JobLedger(self.state, self.leases),
            leases=self.leases,
            steps=self.steps,
            log=self.log,
            listeners=self.listeners,
        )

    def _warn_no_ledger(self, error: VrError) -> None:
        self.log.warning("usage is not written down", reason=error.message, hint=error.hint)

    def _warn_no_cache(self, error: VrError) -> None:
        self.log.warning("results are not cached", reason=error.message, hint=error.hint)


def _former_uploads() -> Mapping[str, Adopt]:
    from vr_kernel.gemini.former_registry import former_tables

    return former_tables()


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"uid-{os.getuid()}" if hasattr(os, "getuid") else "user"
