"""Kernels of the knowledge plugin with a third party's kinds, for tests that refine searches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from knowledge_samples import SampleKinds
from vr_kernel import Provider, View, hookimpl
from vr_kernel.views import as_markdown
from vr_plugin_knowledge import plugin as knowledge
from vr_testing import FakeGemini, TrialKernel, open_kernel


class MarkdownPages:
    """A third party's plugin that makes pages: its renderer writes Markdown."""

    name = "markdown"

    @hookimpl
    def vr_providers(self) -> list[Provider[Any]]:
        """Its renderer."""
        return [Provider("ViewRenderer", self.name, lambda _services: self)]

    async def fragment(self, view: View) -> str:
        """The view as Markdown."""
        return as_markdown(view)

    async def page(self, view: View, folder: Path | None = None) -> str:
        """The same."""
        del folder
        return as_markdown(view)


EMBEDDED = {"store.backend": "embedded", "store.embedder": "words"}
MODELS = {"models.attempts": 1, "models.retry_base_delay_s": 0.01}


@asynccontextmanager
async def knowledge_kernel(
    settings: Mapping[str, Any] | None = None,
    *,
    gemini: FakeGemini | None = None,
    plugins: Mapping[str, object] | None = None,
    folder: Path | None = None,
) -> AsyncIterator[TrialKernel]:
    """A kernel on the embedded store; with a model when a fake service is given."""
    variables = {}
    if gemini is not None:
        variables = {"GEMINI_API_KEY": "key-of-the-test", "GOOGLE_GEMINI_BASE_URL": gemini.url}
    async with open_kernel(
        {"knowledge": knowledge, "sample": SampleKinds(), **(plugins or {})},
        settings={**EMBEDDED, **MODELS, **(settings or {})},
        variables=variables,
        folder=folder,
    ) as kernel:
        yield kernel


async def have_vectors(kernel: TrialKernel) -> None:
    """Wait until every record has its vector: a search waits for that, but not for long."""
    assert await kernel.services.store.catch_up(30) == 0
    async with asyncio.timeout(30):
        while await kernel.services.store.pending_vectors():
            await kernel.call("knowledge_search", query="fox")


async def ingest(kernel: TrialKernel, collection: str, *objects: dict[str, Any]) -> list[str]:
    result = await kernel.call("knowledge_ingest", collection=collection, properties=list(objects))
    return list(result.model_dump()["object_ids"])
