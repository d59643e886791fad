"""Whatever a plugin raises, wherever it does, is its failure: it is named, others are served."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import unruly_plugin
from command_host import CommandHost
from fastmcp import Client
from plugin_zoo import Animal, Zoo, vr_command
from server_process import HttpServerProcess, ServerProcess
from unruly_plugin import RAISED, Done, fail
from vr_kernel import (
    READ_ONLY,
    Call,
    DocumentLoader,
    Embedder,
    Kernel,
    ModelProvider,
    Provider,
    Query,
    Store,
    TextRecognizer,
    VrError,
    tool,
)
from vr_kernel.errors import ERROR_META
from vr_server import build_server

MCPError = pytest.importorskip("mcp.shared.exceptions").MCPError

TOOLS = [
    *("unruly_raise", "unruly_job", "unruly_once", "unruly_thread", "unruly_result"),
    *("unruly_argument", "unruly_record"),
]
ADDRESSES = ["vr://unruly/{}", "vr://unruly-model/{}"]
PROMPTS = ["unruly_words", "unruly_messages"]
PROVIDED: dict[Any, str] = {Store: "embedded", Embedder: "minilm"}
"""What fails, under the names that are configured."""
KINDS = [kind for kind in RAISED if kind != "endless"]


@pytest.fixture
async def client(start: Any) -> AsyncIterator[Client[Any]]:
    kernel: Kernel = await start({"unruly": unruly_plugin})
    async with Client(build_server(kernel)) as client:
        yield client
        # Whatever happened, others are served.
        fine = await client.call_tool("unruly_fine", {})
        assert fine.structured_content == {"done": "yes"}


def require_named(error: dict[str, Any]) -> None:
    """The error says whose failure it is, and by which id the log has it."""
    assert error["code"] == "INTERNAL", error
    assert "of plugin unruly failed unexpectedly" in error["message"]
    assert len(error["call_id"]) == 32


@pytest.mark.parametrize("name", TOOLS)
async def test_tools(name: str, client: Client[Any]) -> None:
    twice = [*KINDS, *(f"{kind}!" for kind in KINDS)] if name == "unruly_raise" else KINDS
    for kind in twice:
        answer = await client.call_tool(name, {"kind": kind}, raise_on_error=False)
        require_named(answer.meta[ERROR_META])


@pytest.mark.parametrize("address", ADDRESSES)
async def test_resources(address: str, client: Client[Any]) -> None:
    for kind in KINDS:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(address.format(kind))
        require_named(caught.value.error.data)


@pytest.mark.parametrize("name", PROMPTS)
async def test_prompts(name: str, client: Client[Any]) -> None:
    for kind in KINDS:
        with pytest.raises(MCPError) as caught:
            await client.get_prompt(name, {"kind": kind})
        require_named(caught.value.error.data)


async def test_listeners(client: Client[Any]) -> None:
    for kind in [*KINDS, *(f"{kind}!" for kind in KINDS)]:
        answer = await client.call_tool("unruly_heard", {"kind": kind})
        assert answer.structured_content == {"done": "yes"}


class UnrulyProvider:
    """A store, an embedder and a loader that fail at whatever they are asked."""

    name = id = "unruly"
    dimension = 3

    def __init__(self, kinds: list[str]) -> None:
        self.kinds = kinds

    async def open(self, kinds: object) -> None:
        """Open: the store is asked all the rest."""

    async def cursor(self) -> int:
        return 0

    async def embed(self, *_: object) -> Any:
        await asyncio.sleep(0)
        return fail(self.kinds[0])

    apply = search = get = load = aclose = embed

    def takes(self, source: str) -> bool:
        return bool(source.endswith("takes") and fail(self.kinds[0]))


async def test_providers(start: Any, make_plugin: Any) -> None:
    kinds = [""]
    provided = [
        Provider(kind, name, lambda _: UnrulyProvider(kinds)) for kind, name in PROVIDED.items()
    ]
    # What makes it may fail as well.
    provided.append(Provider(TextRecognizer, "bad", lambda _: fail(kinds[0])))
    kernel: Kernel = await start({"unruly": make_plugin(providers=provided)})
    doors = [
        lambda: kernel.services.store.search(Query("x")),
        lambda: kernel.services.store.get("Kind", "key", "default"),
        lambda: kernel.services.vectors.embed_query("x"),
        lambda: kernel.services.vectors.embed_documents(["x"]),
        lambda: asyncio.to_thread(kernel.services.providers.get, TextRecognizer),
    ]
    for kinds[0] in KINDS:
        for door in doors:
            with pytest.raises(VrError, match="of plugin unruly failed unexpectedly") as failed:
                await door()
            assert failed.value.code == "INTERNAL"
        if kinds[0] != "close":
            await kernel.services.store.aclose()
    kinds[0] = "interrupt"  # closing the kernel is harmed by no kind


async def test_model_providers(start: Any, make_plugin: Any) -> None:
    kinds = [""]
    asked: list[str] = []

    class Unruly:
        """A provider of models that fails at one of the things that it is asked."""

        name = "bad"

        def check(self) -> None:
            self._do("check")

        def models(self) -> list[Any]:
            self._do("models")
            return []

        def model_for(self, role: str) -> str:
            self._do("model_for")
            return "one"

        async def generate(self, model: str, request: object) -> Any:
            await asyncio.sleep(0)
            self._do("generate")

        def _do(self, what: str) -> None:
            if what == asked[0]:
                fail(kinds[0])

    @tool(effects=READ_ONLY)
    async def chats_ask(call: Call) -> Done:
        """Ask a model."""
        return Done(done=(await call.services.models.generate("Hello?")).text)

    bad = make_plugin(providers=[Provider(ModelProvider, "bad", lambda _: Unruly())])
    kernel: Kernel = await start({"unruly": bad, "chats": make_plugin([chats_ask])})
    for kinds[0] in KINDS:
        for asked[:], said in (
            (["generate"], "ModelProvider bad of plugin unruly failed unexpectedly."),
            (["check"], "No key of the Gemini API is configured."),  # the others are asked
            (["model_for"], "No key of the Gemini API is configured."),
        ):
            outcome = await kernel.run("chats_ask", {})
            assert outcome.error is not None
            assert outcome.error.message == said, (kinds, asked)


async def test_loaders(start: Any, make_plugin: Any) -> None:
    kinds = [""]

    @tool(effects=READ_ONLY)
    async def documents_read(call: Call, source: str) -> Done:
        """Read a document."""
        await call.services.documents.load(call, source)
        return Done()

    loader = Provider(DocumentLoader, "bad", lambda _: UnrulyProvider(kinds))
    reader = make_plugin([documents_read])
    kernel: Kernel = await start({"unruly": make_plugin(providers=[loader]), "documents": reader})
    for kinds[0] in KINDS:
        read = await kernel.run("documents_read", {"source": "x.takes"})
        assert read.error is not None
        assert read.error.category == "NO_LOADER", "who cannot even say is not asked"


# Real servers, for what would end a process.

UNRULY = Animal("unruly", Path(unruly_plugin.__file__).read_text("utf-8"))
FINE = {"done": "yes"}
Called = Callable[[str, str], Awaitable[dict[str, Any]]]
"""Calls a tool with a kind of failure; its result as the protocol has it."""


async def require_served(call: Called, kinds: Sequence[str]) -> None:
    """One after another these are raised at a server, which goes on answering."""
    require_named((await call("unruly_raise", "endless"))["_meta"][ERROR_META])
    for kind in kinds:
        for name in ("unruly_raise", "unruly_job"):
            require_named((await call(name, kind))["_meta"][ERROR_META])
        for told in (kind, f"{kind}!"):
            assert (await call("unruly_heard", told))["structuredContent"] == FINE, told
    for kind in ("exit", "interrupt", "own"):
        assert (await call("unruly_task", kind))["structuredContent"] == FINE, kind


@pytest.mark.slow
async def test_over_stdio(tmp_path: Path) -> None:
    zoo = Zoo(tmp_path).add(UNRULY)
    with ServerProcess(zoo.environment(), zoo.work) as server:
        server.shake_hands("2025-11-25")

        async def call(name: str, kind: str) -> dict[str, Any]:
            return await asyncio.to_thread(server.call, name, kind=kind)

        await require_served(call, KINDS)
        server.process.send_signal(signal.SIGINT)
        assert server.wait() == 128 + signal.SIGINT, "a real Ctrl-C still ends it"
        assert server.stray_lines() == []


@pytest.mark.slow
async def test_over_http(tmp_path: Path) -> None:
    zoo = Zoo(tmp_path).add(UNRULY)
    with HttpServerProcess(zoo.environment(), zoo.work) as server:
        async with Client(server.url, mode="legacy") as client:

            async def call(name: str, kind: str) -> dict[str, Any]:
                said = await client.call_tool(name, {"kind": kind}, raise_on_error=False)
                return {"_meta": said.meta, "structuredContent": said.structured_content}

            await require_served(call, ["interrupt", "close", "own"])
        async with Client(server.url) as other:
            assert (await other.call_tool("unruly_fine", {})).structured_content == FINE
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(10) == 0


@pytest.mark.slow
def test_at_a_terminal(tmp_path: Path) -> None:
    zoo = Zoo(tmp_path).add(UNRULY)
    named = "of plugin unruly failed unexpectedly"
    with closing(CommandHost(zoo.environment(), zoo.work)) as vr:
        for words in ("unruly command", "unruly argument", "unruly raise", "unruly result"):
            for kind in ("own", "stop", "wordless"):
                ended = vr.run(*words.split(), kind)
                assert (ended.code, named in ended.stderr) == (1, True), (words, kind, ended)
        left = vr.run("unruly", "task", "exit")
        assert (left.code, left.stdout) == (0, "Done  yes\n"), "what it left behind ends nothing"


@pytest.mark.slow
def test_who_insists_on_ctrl_c_ends_a_command_that_blocks(tmp_path: Path) -> None:
    zoo = Zoo(tmp_path).add(UNRULY)
    command = [*vr_command("call"), "unruly_block", "seconds=60"]
    with subprocess.Popen(
        command, env=zoo.environment(), cwd=zoo.work, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        assert process.stderr.readline() == "blocking\n"
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.2)
        process.send_signal(signal.SIGINT)
        process.stderr.read()
        assert process.wait() == 128 + signal.SIGINT


STAYING: list[tuple[list[str], dict[str, str], list[signal.Signals], int]] = [
    (["call", "unruly_stay"], {}, [signal.SIGINT, signal.SIGINT], 128 + signal.SIGINT),
    (["call", "unruly_heard", "kind=stay"], {}, [], 0),
    (["doctor"], {"UNRULY_STAYS": "yes"}, [], 3),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "set_", "signals", "code"), STAYING, ids=["tool", "heard", "doctor"]
)
def test_what_swallows_its_cancellation_keeps_no_process(
    words: list[str],
    set_: dict[str, str],
    signals: list[signal.Signals],
    code: int,
    tmp_path: Path,
) -> None:
    zoo = Zoo(tmp_path).add(UNRULY)
    with subprocess.Popen(
        vr_command(*words),
        env={**zoo.environment(), **set_},
        cwd=zoo.work,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr
        for each in signals:
            assert process.stderr.readline() == "staying\n"
            process.send_signal(each)
        try:
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == code, err
    assert "never awaited" not in err
    assert signals or out
