"""The store on a Weaviate server keeps what every store keeps."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

import pytest
from vr_kernel import Store
from vr_plugin_knowledge import plugin
from vr_testing import StoreContract
from weaviate_server import WeaviateServer

pytestmark = [pytest.mark.slow]


class TestWeaviateStore(StoreContract):
    plugins: ClassVar = {"knowledge": plugin}
    provider = "weaviate"

    @pytest.fixture(autouse=True)
    def _at(self, weaviate: WeaviateServer) -> None:
        self.server = weaviate

    @asynccontextmanager
    async def opened(self, folder: Path | None = None) -> AsyncIterator[Store]:
        """Each folder has collections of its own, told apart by their prefix."""
        place = hashlib.sha256(str(folder or uuid4()).encode()).hexdigest()[:12]
        settings = {
            "plugins.knowledge.weaviate_url": self.server.url,
            "plugins.knowledge.weaviate_grpc_port": self.server.grpc_port,
            "plugins.knowledge.weaviate_prefix": f"T{place}_",
        }
        type(self).settings = settings
        async with super().opened(folder) as store:
            yield store
