"""Servers on this machine, found by the form of their answer; keys that are tried unpaid."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from vr_kernel import Code, VrError
from vr_kernel.models import offered_models, running_servers
from vr_plugin_models import plugin
from vr_testing import FakeGemini, FakeOllama, FakeOpenAI, open_kernel

AWAY = {f"plugins.models.{name}_base_url": "127.0.0.1:9" for name in ("ollama", "lmstudio", "vllm")}
KEY = "a-key-that-was-pasted"


@contextmanager
def answering(body: bytes, status: int = 200) -> Iterator[str]:
    """A program of another kind, which answers everything so."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,)).start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


async def found(addresses: Mapping[str, str]) -> dict[str, list[str]]:
    """The servers at these addresses, which the settings of their providers name."""
    settings = {f"plugins.models.{name}_base_url": it for name, it in addresses.items()}
    async with open_kernel({"models": plugin}, settings={**AWAY, **settings}) as kernel:
        return await running_servers(kernel)


async def test_servers_are_found_with_their_models() -> None:
    with ExitStack() as stack:
        ollama, studio = stack.enter_context(FakeOllama()), stack.enter_context(FakeOpenAI())
        ollama.models = {"qwen3-vl:8b", "nomic-embed-text", "gemma3"}
        studio.models = {"gpt-oss-20b"}
        at = {"ollama": ollama.url, "lmstudio": studio.url, "vllm": ollama.url}
        assert await found(at) == {
            "ollama": ["gemma3", "qwen3-vl:8b"],
            "lmstudio": ["gpt-oss-20b"],
        }
        assert [it.action for it in ollama.requests if it.action] == ["tags"]
        assert [it.action for it in studio.requests] == ["models.list"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"<html>", 200),
        (b'{"detail": "Not Found"}', 404),
        (b'{"object": "list", "data": "all"}', 200),
        (b'{"object": "list", "data": [{"id": 7}], "models": [{"name": ""}]}', 200),
        (b'{"models": {"a": 1}, "data": []}', 200),
        (b'{"data": [{"id": "a-user"}]}', 200),
        (b"[" * 100_000, 200),
        (b"\xff\xfe", 200),
    ],
)
async def test_another_program_at_the_port_is_none(body: bytes, status: int) -> None:
    with answering(body, status) as address:
        assert await found(dict.fromkeys(("ollama", "lmstudio", "vllm"), address)) == {}


async def test_what_is_silent_or_not_there_is_none() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        free = socket.create_server(("127.0.0.1", 0))
        nobody = f"127.0.0.1:{free.getsockname()[1]}"
        free.close()
        mute = f"127.0.0.1:{silent.getsockname()[1]}"
        assert await found({"ollama": mute, "lmstudio": mute, "vllm": nobody}) == {}


async def test_only_this_very_machine_is_looked_at() -> None:
    with FakeOllama() as ollama:
        port = ollama.url.rpartition(":")[2]
        ollama.models = {"qwen3"}
        assert await found({"ollama": f"0.0.0.0:{port}"}) == {"ollama": ["qwen3"]}
        assert await found({"ollama": f"nowhere.internal:{port}"}) == {}
        assert len(ollama.requests) == 1


@pytest.mark.parametrize("name", ["gemini", "groq"])
async def test_a_key_is_tried_by_the_list_of_models_alone(name: str) -> None:
    service: Any
    with FakeGemini() if name == "gemini" else FakeOpenAI() as service:
        service.keys, service.models = {KEY}, {"one", "two"}
        place = {
            "gemini": {"models.gemini_base_url": service.url},
            "groq": {"plugins.models.groq_base_url": service.url},
        }
        here = {"kernel.http.allowed_hosts": [service.url.split("/")[2]], **place[name]}
        variable = f"{name.upper()}_API_KEY"
        for key in (KEY, "another-key-that-was-pasted"):
            tried = {variable: key}
            async with open_kernel({"models": plugin}, settings=here, variables=tried) as kernel:
                if key == KEY:
                    assert await offered_models(kernel, name) == ["one", "two"]
                else:
                    with pytest.raises(VrError) as caught:
                        await offered_models(kernel, name)
                    assert caught.value.code is Code.AUTH
                    assert key not in caught.value.message + caught.value.hint
        assert service.bill.calls == 0
        assert {it.action for it in service.requests} == {"models.list"}
