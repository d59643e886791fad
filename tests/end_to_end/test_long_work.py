"""Ten minutes of work for every kind of client, at a twentieth of the time: nobody times out."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import baking_plugin
import pytest
from installation import SERVE
from long_clients import (
    MODERN,
    TOKEN,
    HttpWire,
    Kind,
    LongClient,
    RefusedError,
    StdioWire,
    TimedOutError,
    Wire,
    install,
)
from server_process import HttpServerProcess

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
SCALE = 1 / 20
TIMEOUT_S, HANDLE_S, HEARTBEAT_S, JOB_S = (SCALE * it for it in (60, 45, 10, 600))
LAYERS = 5
KINDS = {
    "progress": Kind(MODERN, progress=True),
    "none": Kind(MODERN),
    "tasks": Kind(MODERN, tasks=True),
    "old": Kind("2024-11-05"),
    "old, progress": Kind("2025-03-26", progress=True),
}
WIRES = ("stdio", "http")
SURVIVORS = ("none", "tasks")


@dataclass
class Bakery:
    """Folder in which the servers of a test work, and a record of their work."""

    environment: dict[str, str]
    folder: Path
    book: Path
    stack: ExitStack = field(default_factory=ExitStack)

    def visit(self, kind: Kind, wire: Wire) -> LongClient:
        """A client that has met its server."""
        client = LongClient(wire, kind, TIMEOUT_S)
        client.meet()
        return client

    def open(self, transport: str) -> Wire:
        """A server of one client."""
        if transport == "stdio":
            wire: Wire = StdioWire(self.environment, self.folder)
        else:
            wire = HttpWire(self.listen())
        self.stack.callback(wire.kill)
        return wire

    def listen(self) -> HttpServerProcess:
        """A server over HTTP, for two principals."""
        tokens = {"VR_HTTP_TOKENS": f"{TOKEN},other:{TOKEN}-2"}
        return HttpServerProcess({**self.environment, **tokens}, self.folder)

    def baked(self, name: str) -> dict[str, int]:
        """The number of times that each layer of a cake was baked."""
        lines = self.book.read_text("utf-8").split("\n") if self.book.exists() else []
        return Counter(line for line in lines if line.startswith(f"{name}/"))


@dataclass
class Story:
    """Story of a client; `runs` counts the processes that worked for it."""

    client: LongClient
    first: dict[str, Any]
    cake: dict[str, Any] | None = None
    timed_out: str = ""
    seconds: float = 0.0
    runs: int = 1


@pytest.fixture(scope="module")
def bakery(
    tmp_path_factory: pytest.TempPathFactory, fresh_environment: Callable[..., dict[str, str]]
) -> Iterator[Bakery]:
    folder = tmp_path_factory.mktemp("bakery")
    book = folder / "book"
    environment = fresh_environment(
        **install(Path(baking_plugin.__file__), folder / "packages"),
        **{baking_plugin.BOOK: str(book)},
        VR_KERNEL__HANDLE_AFTER_S=str(HANDLE_S),
        VR_KERNEL__HEARTBEAT_S=str(HEARTBEAT_S),
        VR_KERNEL__LEASE_S="5",
    )
    made = Bakery(environment, folder, book)
    with made.stack:
        yield made


@pytest.fixture(scope="module")
def stories(bakery: Bakery) -> dict[tuple[str, str], Story]:
    """All kinds of clients at the same time, with a server each, or with one over HTTP."""
    server = bakery.listen()
    wires: dict[tuple[str, str], Wire] = {}
    for name in KINDS:
        wires[name, "stdio"] = bakery.open("stdio")
        wires[name, "http"] = HttpWire(server)
        bakery.stack.callback(wires[name, "http"].kill)
    guests = {key: bakery.visit(KINDS[key[0]], wire) for key, wire in wires.items()}

    def live(key: tuple[str, str]) -> Story:
        return bake(guests[key], " ".join(key), JOB_S)

    with ThreadPoolExecutor(len(guests)) as pool:
        return dict(zip(guests, pool.map(live, guests), strict=True))


def bake(client: LongClient, name: str, seconds: float) -> Story:
    """Order a cake and fetch it, as such a client does."""
    began = time.monotonic()
    story = Story(client, {})
    try:
        order = {"name": name, "layers": LAYERS, "layer_s": seconds / LAYERS}
        story.first = client.call("baking_bake", **order)
        story.cake = fetch(client, story.first)
    except TimedOutError as late:
        story.timed_out = str(late)
    story.seconds = time.monotonic() - began
    return story


def fetch(client: LongClient, first: dict[str, Any]) -> dict[str, Any]:
    """State and result of a job."""
    while True:
        if client.kind.tasks:
            told = client.request("tasks/get", taskId=first["taskId"])
            state, result = told["status"], told.get("result", {}).get("structuredContent")
        else:
            # A client that takes progress can wait as long as it takes.
            wait_s = 3600 if client.kind.progress else TIMEOUT_S / 2
            told = client.call("job_result", job_id=first["job_id"], wait_s=wait_s)
            state, result = told["state"], told["result"]
        if state not in ("working", "running", "interrupted"):
            assert isinstance(result, dict), told
            return result
        time.sleep(told.get("pollIntervalMs", 0) / 1000)


def done(client: LongClient, first: dict[str, Any]) -> float:
    """The number of layers that a job has said that it baked."""
    job_id = first.get("taskId") or first["job_id"]
    progress = client.call("job_status", job_id=job_id)["progress"]
    return float(progress["done"])


def survive(bakery: Bakery, name: str, transport: str) -> Story:
    """Kill the server of a job when two layers are baked, and go on with another."""
    wire = bakery.open(transport)
    client = bakery.visit(KINDS[name], wire)
    order = {"name": f"killed {name} {transport}", "layers": LAYERS, "layer_s": 1.5}
    story = Story(client, client.call("baking_bake", **order))
    while done(client, story.first) < 2:
        time.sleep(0.1)
    wire.kill()
    story.client = bakery.visit(KINDS[name], bakery.open(transport))
    story.cake = fetch(story.client, story.first)
    job_id = story.first.get("taskId") or story.first["job_id"]
    story.runs = story.client.call("job_status", job_id=job_id)["runs"]
    return story


@pytest.mark.parametrize("transport", WIRES)
@pytest.mark.parametrize("name", KINDS)
def test_nobody_times_out(
    bakery: Bakery, stories: dict[tuple[str, str], Story], name: str, transport: str
) -> None:
    story = stories[name, transport]
    assert story.timed_out == ""
    assert story.cake == {"name": f"{name} {transport}", "layers": [1, 2, 3, 4, 5]}
    assert story.seconds >= JOB_S
    assert story.client.longest_s < TIMEOUT_S
    baked = bakery.baked(f"{name} {transport}")
    assert len(baked) == LAYERS
    assert set(baked.values()) == {1}


@pytest.mark.parametrize("transport", WIRES)
@pytest.mark.parametrize("name", ["progress", "old, progress"])
def test_who_takes_progress_hears_of_silent_work(
    stories: dict[tuple[str, str], Story], name: str, transport: str
) -> None:
    client = stories[name, transport].client
    waited = [told for told in client.progress.values() if told]
    assert len(waited) == 2
    assert sum(map(len, waited)) > JOB_S / HEARTBEAT_S / 2
    assert all(one < other for told in waited for one, other in pairwise(told))


@pytest.mark.parametrize("transport", WIRES)
@pytest.mark.parametrize("name", KINDS)
def test_what_each_kind_gets_first(
    stories: dict[tuple[str, str], Story], name: str, transport: str
) -> None:
    first = stories[name, transport].first
    if name == "tasks":
        assert first["status"] == "working"
        assert "job_id" not in first
    else:
        assert first.keys() == {"job_id", "state", "progress"}
        assert first["state"] == "running"


@pytest.fixture(scope="module")
def survivors(bakery: Bakery) -> dict[tuple[str, str], Story]:
    """Clients whose servers were killed in the middle."""
    keys = [(name, transport) for name in SURVIVORS for transport in WIRES]
    with ThreadPoolExecutor(len(keys)) as pool:
        lived = pool.map(lambda key: survive(bakery, *key), keys)
        return dict(zip(keys, lived, strict=True))


@pytest.mark.parametrize("transport", WIRES)
@pytest.mark.parametrize("name", SURVIVORS)
def test_work_goes_on_after_a_kill(
    bakery: Bakery, survivors: dict[tuple[str, str], Story], name: str, transport: str
) -> None:
    story = survivors[name, transport]
    assert story.cake is not None
    assert story.cake["layers"] == [1, 2, 3, 4, 5]
    assert story.runs >= 2
    baked = bakery.baked(f"killed {name} {transport}")
    assert len(baked) == LAYERS
    assert set(baked.values()) == {1}


def test_over_http_a_task_is_whose_token_it_is(bakery: Bakery) -> None:
    wire = bakery.open("http")
    client = bakery.visit(KINDS["tasks"], wire)
    assert isinstance(wire, HttpWire)
    task = client.call("baking_bake", name="mine", layers=1, layer_s=4)["taskId"]

    def refused(**options: Any) -> int:
        post = wire.post
        message = {"jsonrpc": "2.0", "id": 99, "method": "tasks/get"}
        params = {"taskId": task, "_meta": client._meta()}
        post({**message, "params": params}, client.kind, **options)
        return int(wire.inbox.get(timeout=TIMEOUT_S)["error"]["code"])

    assert refused(token=f"{TOKEN}-2") == -32602
    assert refused(headers={"Mcp-Name": "another"}) == -32020
    with pytest.raises(RefusedError):
        client.request("tasks/get", taskId="0" * 32)
    assert fetch(client, {"taskId": task})["layers"] == [1]


async def test_the_client_library_follows_tasks(bakery: Bakery) -> None:
    """FastMCP's own client understands it, where it is installed."""
    tasks = pytest.importorskip("fastmcp_tasks.client")
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    async def person(_message: str, kind: Any, *_: Any) -> Any:
        return kind(layers=3)

    transport = StdioTransport(
        SERVE[0], SERVE[1:], env=bakery.environment, log_file=bakery.folder / "library.log"
    )
    async with Client(transport, elicitation_handler=person) as client:
        order = {"name": "library", "layers": 2, "layer_s": 1}
        handle = await tasks.call_tool_task(client, "baking_bake", order)
        assert (await handle.status()).status == "working"
        assert (await handle.result()).structured_content["layers"] == [1, 2]
        followed = await client.call_tool("baking_bake", {**order, "name": "followed"})
        assert followed.structured_content["layers"] == [1, 2]
        asked = await client.call_tool("baking_bake", {**order, "name": "asked", "ask": True})
        assert asked.structured_content["layers"] == [1, 2, 3]
        stopped = await tasks.call_tool_task(client, "baking_bake", {**order, "layer_s": 60})
        await stopped.cancel()
        assert (await stopped.status()).status == "cancelled"
