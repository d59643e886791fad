"""The first hour of somebody new, on a machine so slow that every long call becomes a job."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from server_process import HttpServerProcess
from vr_kernel import Code, VrError
from vr_server import ToolClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
SLOW_MACHINE = {"VR_KERNEL__HANDLE_AFTER_S": "0.5"}
QUESTION = "What should you ask instead of what your country can do for you?"
SPOKEN = "Ask what you can do for your country"
ANNA, BEN = "anna-0123456789abcdef", "ben-0123456789abcdef"


class Newcomer:
    """An empty home, a folder to work in, and the command `vr`."""

    demo: str
    analysis: dict[str, Any]

    def __init__(self, environment: dict[str, str], work: Path) -> None:
        self.environment = environment
        self.work = work

    def vr(self, *words: str) -> str:
        """Run a command that ends well, and return its output."""
        done = subprocess.run(
            [sys.executable, "-m", "vr_cli", *words],
            env=self.environment,
            cwd=self.work,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def data(self, *words: str) -> Any:
        """The same as JSON."""
        return json.loads(self.vr(*words, "--json"))


@pytest.fixture(scope="module")
def newcomer(
    fresh_environment: Callable[..., dict[str, str]],
    tmp_path_factory: pytest.TempPathFactory,
    speech_model: Path,
) -> Newcomer:
    """Somebody who ran the demo and watched the talk."""
    del speech_model
    environment = fresh_environment(**SLOW_MACHINE)
    newcomer = Newcomer(environment, tmp_path_factory.mktemp("videos"))
    newcomer.demo = newcomer.vr("demo")
    newcomer.vr("demo", "--copy", ".")
    newcomer.analysis = newcomer.data("video", "analyze", "talk.mp4")
    return newcomer


def test_the_demo_follows_what_becomes_a_job(newcomer: Newcomer) -> None:
    assert "Watched and recorded" in newcomer.demo
    answers = newcomer.demo.split("Asking the knowledge base")[1]
    assert re.findall(r"^    (\d):\d\d", answers, re.MULTILINE) == ["0", "0", "1"]


def test_the_next_command_hears_what_the_demo_heard(newcomer: Newcomer) -> None:
    assert newcomer.analysis["transcript"]["origin"] == "speech"
    assert newcomer.analysis["limits"] == []
    assert SPOKEN in newcomer.vr("video", "transcript", "talk.mp4", "--format", "text")


def test_a_search_finds_the_moment(newcomer: Newcomer) -> None:
    found = newcomer.data(
        "knowledge", "search", QUESTION, "--collections", "VideoSegments", "--limit", "1"
    )
    (best,) = found["results"]
    assert SPOKEN in best["properties"]["text"]
    assert best["locator"]["start"] >= 60
    assert "talk.mp4#t=" in best["link"]


def test_a_question_is_answered_from_what_was_said(newcomer: Newcomer) -> None:
    assert SPOKEN in newcomer.data("knowledge", "ask", QUESTION)["answer"]


def test_an_analysis_becomes_a_page(newcomer: Newcomer) -> None:
    page = Path(newcomer.data("video", "export", "talk.mp4")["path"]).read_text("utf-8")
    assert "<html" in page
    assert SPOKEN in page


def test_a_path_elsewhere_is_read_because_it_was_typed(newcomer: Newcomer, tmp_path: Path) -> None:
    other = Newcomer(newcomer.environment, tmp_path)
    watched = other.data("video", "analyze", str(newcomer.work / "talk.mp4"))
    assert (watched["cached"], watched["title"]) == (True, newcomer.analysis["title"])


def test_a_second_user_of_the_server_meets_nothing_of_the_first(newcomer: Newcomer) -> None:
    environment = {**newcomer.environment, "VR_HTTP_TOKENS": f"{ANNA},ben:{BEN}"}
    with HttpServerProcess(environment, newcomer.work) as server:
        asyncio.run(_visit(server.url, newcomer.work / "talk.mp4"))


async def _visit(address: str, talk: Path) -> None:
    async with connected(address, ANNA) as anna, connected(address, BEN) as ben:
        assert (await anna.call("knowledge_search", query=QUESTION))["results"]
        assert (await ben.call("knowledge_search", query=QUESTION))["results"] == []
        assert (await ben.call("knowledge_stats"))["total"] == 0
        assert (await ben.call("job_list"))["jobs"] == []
        with pytest.raises(VrError) as refused:
            await ben.call("video_analyze", file_path=str(talk), engine="local")
        assert refused.value.code is Code.NOT_ALLOWED


@asynccontextmanager
async def connected(address: str, token: str) -> AsyncIterator[ToolClient]:
    """A client of the server with that token."""
    async with Client(StreamableHttpTransport(address, auth=token)) as client:
        yield ToolClient(client)
