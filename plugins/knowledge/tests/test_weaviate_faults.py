"""A Weaviate server that is away, hangs, refuses, is full, or comes back: nothing is lost."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from knowledge_samples import CARDS, Ledger, WordVectors, all_plugins
from structlog.testing import capture_logs
from vr_kernel import Code, Kernel, VrError, load_config
from vr_plugin_knowledge.weaviate_store.delivery_lock import DeliveryLock
from vr_plugin_knowledge.weaviate_store.settings import WeaviateSettings
from vr_plugin_knowledge.weaviate_store.store import WeaviateStore
from vr_testing import open_kernel
from weaviate_samples import deliver, found, http_answer, listener, opened, settings_of
from weaviate_server import KEY, WeaviateServer

pytestmark = [pytest.mark.slow]
QUICK = {"weaviate_connect_s": 2.0, "weaviate_query_s": 2.0, "weaviate_insert_s": 3.0}


@pytest.fixture
def own_server(weaviate: WeaviateServer, tmp_path: Path) -> Iterator[WeaviateServer]:
    """A server that a test may stop and freeze."""
    server = WeaviateServer(tmp_path / "server")
    server.start()
    yield server
    server.stop()


def plugins() -> dict[str, object]:
    """The knowledge plugin and kinds; `vr_testing` has an embedder already."""
    return {name: plugin for name, plugin in all_plugins().items() if name != "words"}


async def failure_of(work) -> tuple[VrError, float]:
    started = time.monotonic()
    with pytest.raises(VrError) as caught:
        async with work:
            pass
    return caught.value, time.monotonic() - started


async def test_a_grpc_port_that_accepts_and_never_answers(weaviate, tmp_path):
    async with listener() as port:
        settings = settings_of(weaviate, "Hang_", **QUICK, weaviate_grpc_port=port)
        error, seconds = await failure_of(opened(settings, tmp_path))
    assert (error.code, error.retryable) == (Code.UNAVAILABLE, True)
    assert seconds < 10


async def test_closed_ports_are_named(weaviate, tmp_path):
    async with listener() as port:
        pass
    error, seconds = await failure_of(
        opened(settings_of(weaviate, "Shut_", **QUICK, weaviate_grpc_port=port), tmp_path)
    )
    assert (error.code, error.category) == (Code.UNAVAILABLE, "WEAVIATE_CONNECTION")
    assert str(port) in error.message
    url = f"http://127.0.0.1:{port}"
    error, _ = await failure_of(
        opened(settings_of(weaviate, "Shut_", **QUICK, weaviate_url=url), tmp_path)
    )
    assert (error.code, error.retryable) == (Code.UNAVAILABLE, True)
    assert seconds < 10


async def test_a_rest_port_that_hangs_or_is_something_else(weaviate, tmp_path):
    async with listener() as port:
        settings = settings_of(weaviate, "X_", **QUICK, weaviate_url=f"http://127.0.0.1:{port}")
        error, seconds = await failure_of(opened(settings, tmp_path))
    assert (error.code, error.retryable) == (Code.UNAVAILABLE, True)
    assert seconds < 10
    async with listener(lambda: http_answer({"hello": 1})) as port:
        settings = settings_of(weaviate, "X_", **QUICK, weaviate_url=f"http://127.0.0.1:{port}")
        error, _ = await failure_of(opened(settings, tmp_path))
    assert error.code is Code.UNAVAILABLE
    assert "no Weaviate" in error.message


async def test_a_server_that_is_too_old(weaviate, tmp_path):
    async with listener(lambda: http_answer({"version": "1.25.3"})) as port:
        settings = settings_of(weaviate, "X_", **QUICK, weaviate_url=f"http://127.0.0.1:{port}")
        error, _ = await failure_of(opened(settings, tmp_path))
    assert error.code is Code.UNSUPPORTED
    assert "1.25.3" in error.message


async def test_a_collection_that_the_server_does_not_make_is_named(weaviate, tmp_path):
    settings = settings_of(weaviate, "Many_", weaviate_replicas=64)
    error, _ = await failure_of(opened(settings, tmp_path))
    assert (error.code, error.category) == (Code.INVALID_INPUT, "WEAVIATE_SCHEMA")
    assert "Many_" in error.message
    assert "weaviate_replicas" in error.hint


async def test_connecting_and_new_collections_are_logged(weaviate, tmp_path):
    with capture_logs() as lines:
        async with open_kernel({}, folder=tmp_path) as kernel:
            lock, log = DeliveryLock(kernel.services), structlog.get_logger()
            store = WeaviateStore(settings_of(weaviate, "Told_"), lock, WordVectors(), log)
            await store.open([CARDS])
            await store.aclose()
    told = {line["event"]: line for line in lines}
    assert told["connected to Weaviate"]["where"] in weaviate.url
    assert told["made a collection of Weaviate"]["collection"] == "Told_Cards"


def test_the_limits_of_time_are_those_that_are_documented():
    limits = WeaviateSettings()
    assert (limits.weaviate_connect_s, limits.weaviate_query_s) == (30, 60)
    assert limits.weaviate_insert_s == 120


async def test_keys(weaviate, tmp_path):
    server = WeaviateServer(tmp_path / "keyed", key=KEY)
    await asyncio.to_thread(server.start)
    try:
        for wrong in ("", "another-key"):
            settings = settings_of(server, "", weaviate_api_key=wrong)
            error, _ = await failure_of(opened(settings, tmp_path / "a"))
            assert (error.code, error.retryable) == (Code.AUTH, False)
            assert "WEAVIATE_API_KEY" in error.hint
            assert "another-key" not in error.message
        ledger = Ledger()
        ledger.write(CARDS.name, "a", {"text": "fox"})
        async with opened(settings_of(server, ""), tmp_path / "b") as store:
            await deliver(store, ledger)
            assert await found(store, "fox") == ["a"]
    finally:
        server.stop()


async def test_a_frozen_server_costs_no_more_than_the_limit(own_server, tmp_path):
    ledger = Ledger()
    ledger.write(CARDS.name, "a", {"text": "fox"})
    async with opened(settings_of(own_server, "", **QUICK), tmp_path) as store:
        await deliver(store, ledger)
        own_server.process.send_signal(signal.SIGSTOP)
        try:
            change = ledger.write(CARDS.name, "b", {"text": "fox"})
            calls = [
                *(found(store, "fox", mode) for mode in ("keyword", "semantic", "hybrid")),
                *(store.get(CARDS.name, "a", "default"), store.count(CARDS.name, "default")),
                *(store.cursor(), store.apply([change])),
                store.near(CARDS.name, "a", "default", 3),
            ]
            started = time.monotonic()
            answers = await asyncio.gather(*calls, return_exceptions=True)
            assert time.monotonic() - started < 10
            for answer in answers:
                assert isinstance(answer, VrError), answer
                assert (answer.code, answer.retryable) == (Code.UNAVAILABLE, True)
        finally:
            own_server.process.send_signal(signal.SIGCONT)
        await deliver(store, ledger)
        assert set(await found(store, "fox")) == {"a", "b"}


async def test_a_server_that_takes_nothing_now_is_no_fault_of_the_record(weaviate, tmp_path):
    ledger = Ledger()
    ledger.write(CARDS.name, "a", {"text": "fox"})
    async with opened(settings_of(weaviate, "Full_"), tmp_path) as store:
        await deliver(store, ledger)
        client = await store._connection.client()
        handle = client.collections.use("Full_Cards")
        await handle.config.update_shards("READONLY", ["default"])
        change = ledger.write(CARDS.name, "b", {"text": "fox"})
        with pytest.raises(VrError) as caught:
            await store.apply([change])
        assert (caught.value.code, caught.value.retryable) == (Code.UNAVAILABLE, True)
        assert caught.value.category == "WEAVIATE_IMPORT"
        assert await store.cursor() == 1
        assert await found(store, "fox") == ["a"]
        await handle.config.update_shards("READY", ["default"])
        await deliver(store, ledger)
        assert set(await found(store, "fox")) == {"a", "b"}


async def test_a_server_that_was_emptied_is_filled_again(own_server, tmp_path):
    ledger = Ledger()
    for number in range(20):
        ledger.write(CARDS.name, f"k{number}", {"text": "fox"})
    async with opened(settings_of(own_server, ""), tmp_path) as store:
        await deliver(store, ledger)
        client = await store._connection.client()
        await client.collections.delete_all()
        await deliver(store, ledger)
        assert await store.count(CARDS.name, "default") == {"": 20}


async def test_records_written_while_it_is_away_arrive_once(own_server, tmp_path):
    """Tools go on, the server dies with SIGKILL twice, the program ends and starts again."""
    settings = {
        "store.backend": "weaviate",
        "store.embedder": "words",
        "plugins.knowledge.weaviate_url": own_server.url,
        "plugins.knowledge.weaviate_grpc_port": own_server.grpc_port,
        **{f"plugins.knowledge.{name}": value for name, value in QUICK.items()},
    }
    home = tmp_path / "home"
    home.mkdir()

    async def ingest(kernel: Kernel, first: int) -> None:
        for start in range(first, first + 100, 25):
            texts = [{"text": f"fox {n}", "category": "d"} for n in range(start, start + 25)]
            await kernel.call("knowledge_ingest", collection=CARDS.name, properties=texts)

    async def behind(kernel: Kernel) -> int:
        try:
            status = await kernel.services.store.status()
        except VrError:
            return -1
        return status.recorded - status.delivered

    async with open_kernel(plugins(), settings=settings, folder=home) as kernel:
        await ingest(kernel, 0)
        own_server.stop()
        await ingest(kernel, 100)
        await asyncio.to_thread(own_server.start)
        await ingest(kernel, 200)
        own_server.stop()
        await ingest(kernel, 300)
    await asyncio.to_thread(own_server.start)
    async with open_kernel(plugins(), settings=settings, folder=home) as kernel:
        async with asyncio.timeout(60):
            while await behind(kernel):
                await kernel.services.store.catch_up(1.0)
        assert await kernel.services.store.count(CARDS.name, "default") == {"": 400}
        status = await kernel.services.store.status()
        assert (status.delivered, status.refused) == (status.recorded, 0)


async def test_doctor_says_which_port_is_at_fault(weaviate, tmp_path):
    async def checked(**more: object) -> dict[str, object]:
        given = {"weaviate_url": weaviate.url, "weaviate_grpc_port": weaviate.grpc_port, **more}
        settings = {f"plugins.knowledge.{name}": value for name, value in given.items()}
        settings |= {"store.backend": "weaviate", "store.embedder": "words"}
        found: dict[str, object] = {}
        async with open_kernel(plugins(), settings=settings, folder=tmp_path) as kernel:
            from vr_plugin_knowledge.weaviate_store.health import weaviate_checks

            for check in weaviate_checks(kernel._plugins.contexts["knowledge"].services):
                try:
                    found[check.name] = (await check.examine()).level
                except VrError as error:
                    found[check.name] = error.message
        return found

    assert await checked() == dict.fromkeys(("weaviate", "weaviate grpc", "weaviate room"), "ok")
    async with listener() as port, listener() as other:
        started = time.monotonic()
        hanging = await checked(weaviate_grpc_port=other, weaviate_url=f"http://127.0.0.1:{port}")
        assert time.monotonic() - started < 5
    assert "says nothing" in str(hanging["weaviate"])
    assert "accepts and says nothing" in str(hanging["weaviate grpc"])


def test_settings_of_the_seed_reach_the_store(tmp_path):
    config = load_config(
        {
            "HOME": str(tmp_path),
            "WEAVIATE_URL": "http://localhost:1",
            "WEAVIATE_API_KEY": "k",
            "WEAVIATE_GRPC_PORT": "4711",
        },
        working_folder=tmp_path,
    )
    from vr_plugin_knowledge.settings import KnowledgeSettings

    read = config.section("plugins.knowledge", KnowledgeSettings)
    assert (read.weaviate_url, read.weaviate_grpc_port) == ("http://localhost:1", 4711)
    assert read.weaviate_api_key.get_secret_value() == "k"
