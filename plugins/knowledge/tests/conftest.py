"""Fixtures of the knowledge plugin's tests."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from knowledge_samples import CARDS, NOTES, OpenStore, WordVectors, all_plugins, quiet_log
from vr_kernel import Config, Kernel, load_config
from vr_plugin_knowledge.embedded_store.store import EmbeddedStore
from weaviate_server import NoServerError, WeaviateServer, find_binary


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """Settings of an installation of its own, with the sample embedder."""
    folders = {name: str(tmp_path / name) for name in ("VR_STATE_DIR", "VR_CACHE_DIR")}
    folders["VR_CONFIG_DIR"] = str(tmp_path / "VR_CONFIG_DIR")
    return load_config({**folders, "VR_STORE__EMBEDDER": "words"}, working_folder=tmp_path)


@pytest.fixture
async def kernel(config: Config) -> AsyncIterator[Kernel]:
    """A kernel with the knowledge plugin and a third party's kinds."""
    async with Kernel.open(config, all_plugins()) as opened:
        yield opened


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    """The path of the store's file."""
    return tmp_path / "state" / "knowledge.db"


@pytest.fixture
def open_store(store_path: Path) -> OpenStore:
    """Opens a store on the one file of a test, as one process would."""

    @asynccontextmanager
    async def opener(vectors: WordVectors) -> AsyncIterator[EmbeddedStore]:
        store = EmbeddedStore(store_path, vectors, quiet_log())
        await store.open([NOTES, CARDS])
        try:
            yield store
        finally:
            await store.aclose()

    return opener


@pytest.fixture(scope="session")
def weaviate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WeaviateServer]:
    """A Weaviate server for all tests of a run; each keeps to names of its own."""
    if find_spec("weaviate") is None:
        pytest.skip("weaviate-client is not installed")
    try:
        find_binary()
    except NoServerError as reason:
        pytest.skip(str(reason))
    server = WeaviateServer(tmp_path_factory.mktemp("weaviate"))
    server.start()
    yield server
    server.stop()


@pytest.fixture(params=["embedded", pytest.param("weaviate", marks=pytest.mark.slow)])
def each_store(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The settings of a store; on a server, under a prefix of its own."""
    if request.param == "embedded":
        return {}
    server = request.getfixturevalue("weaviate")
    return {
        "store.backend": "weaviate",
        "plugins.knowledge.weaviate_url": server.url,
        "plugins.knowledge.weaviate_grpc_port": server.grpc_port,
        "plugins.knowledge.weaviate_prefix": f"V{uuid.uuid4().hex[:8]}_",
    }
