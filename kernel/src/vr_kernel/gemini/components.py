"""The parts of the Gemini service, each made and imported when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from vr_kernel.config.model_settings import ModelsSettings
from vr_kernel.log import Log

if TYPE_CHECKING:
    from vr_kernel.gemini.contexts import Contexts
    from vr_kernel.gemini.paid_research import Claims
    from vr_kernel.gemini.pool import Pool
    from vr_kernel.gemini.provider import GeminiModels
    from vr_kernel.gemini.registry import KeptAtGemini
    from vr_kernel.gemini.research import Research
    from vr_kernel.gemini.uploads import Uploads
    from vr_kernel.jobs.leases import LedgerLeases
    from vr_kernel.state.rows import OpenRows


class Components:
    """The components of the service of one kernel."""

    def __init__(
        self,
        settings: Callable[[], ModelsSettings],
        rows: OpenRows,
        log: Log,
        leases: LedgerLeases | None,
    ) -> None:
        self.settings = settings
        self._rows = rows
        self._log = log
        self._leases = leases

    @cached_property
    def pool(self) -> Pool:
        """The clients, one a key."""
        from vr_kernel.gemini.pool import Pool

        return Pool(self.settings)

    @cached_property
    def registry(self) -> KeptAtGemini:
        """The files and caches at the service, as this machine remembers them."""
        from vr_kernel.gemini.registry import KeptAtGemini

        return KeptAtGemini(self._rows, self._log)

    @cached_property
    def uploads(self) -> Uploads:
        """Files at the service."""
        from vr_kernel.gemini.uploads import Uploads

        return Uploads(self.registry, self.settings)

    @cached_property
    def contexts(self) -> Contexts:
        """Contexts that the service keeps."""
        from vr_kernel.gemini.contexts import Contexts

        return Contexts(
            self.registry, self.pool, self.uploads, self._leases, self.settings, self._log
        )

    @cached_property
    def research(self) -> Research:
        """Deep Research."""
        from vr_kernel.gemini.research import Research

        return Research(self.pool, self.settings)

    @cached_property
    def claims(self) -> Claims:
        """The researches that are accounted for."""
        from vr_kernel.gemini.paid_research import Claims

        return Claims(self._rows, self._log)

    @cached_property
    def models(self) -> GeminiModels:
        """The provider of models."""
        from vr_kernel.gemini.provider import GeminiModels

        return GeminiModels(self.settings, self.pool, self.uploads, self.contexts)

    async def aclose(self) -> None:
        """End the contexts when that is configured, and close what was opened."""
        if self.settings().clear_context_caches:
            await self.contexts.clear()
        if "pool" in vars(self):
            await self.pool.aclose()
