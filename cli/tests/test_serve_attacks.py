"""A real HTTP server with 1,024 files, amid clients that take them all."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from plugin_zoo import Zoo, vr_command
from test_serve_floods import HALF, INITIALIZE, LIST, OWNER, Server
from waiting import always, until

resource = pytest.importorskip("resource")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
FILES, HALVES = 1_024, 1_100
SESSIONS = 100
GOAL_S = 1.0
HUNG_S = 10 * GOAL_S
"""A busy machine answers late; a server that is stopped never does."""
MOST_OF_A_CORE = 0.2
MOST_LOG = 1_000_000


class Attacked(Server):
    """A server process and its clients."""

    pid: int
    log: Path

    def cpu_s(self) -> float:
        """Seconds of a processor that it has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_kb(self) -> int:
        """Memory that it holds."""
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.pid}/status").read_text())
        assert found
        return int(found[1])

    async def answers(self) -> None:
        """Require that health and the owner are answered, on connections of their own."""
        async with asyncio.timeout(HUNG_S):
            assert b" 200 " in await self.status()
        async with asyncio.timeout(HUNG_S):
            session = await self.session()
            client = await self.connect()
            assert b" 200 " in await client.post(LIST, session=session)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Attacked]:
    """A server of two tokens that may open 1,024 files."""
    zoo = Zoo(tmp_path / "zoo")
    log = tmp_path / "log"
    command = ["sh", "-c", f'ulimit -n {FILES} && exec "$@"', "sh", *vr_command("serve")]
    with log.open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            *command,
            "--http",
            "0",
            env=zoo.environment(VR_HTTP_TOKENS=OWNER, VR_KERNEL__SERVE__MAX_SESSIONS=str(SESSIONS)),
            cwd=zoo.work,
            stderr=stderr,
        )
    port = await until(lambda: re.search(r"127.0.0.1:(\d+)", log.read_text("utf-8", "replace")))
    server = Attacked(int(port[1]))
    server.pid, server.log = process.pid, log
    try:
        yield server
    finally:
        for client in server.clients:
            client.writer.transport.abort()
        process.terminate()
        with suppress(TimeoutError):
            async with asyncio.timeout(30):
                assert await process.wait() == 0
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.fixture(autouse=True)
def files() -> None:
    """Let this process open enough of them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2 * HALVES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(2 * HALVES, hard), hard))


async def test_half_requests_of_strangers_stop_nobody(server: Attacked) -> None:
    loop = asyncio.get_running_loop()
    cpu_s, began = server.cpu_s(), loop.time()
    halves = [await server.connect(HALF) for _ in range(HALVES)]
    await server.answers()
    await server.answers()
    async with asyncio.timeout(60):
        said = [await half.rest() for half in halves]
    assert sum(b" 408 " in each for each in said) > HALVES // 4
    await server.answers()
    assert (server.cpu_s() - cpu_s) / (loop.time() - began) <= MOST_OF_A_CORE
    assert server.log.stat().st_size <= MOST_LOG


async def test_without_a_file_left_the_server_waits_in_peace(server: Attacked) -> None:
    await server.answers()
    loop = asyncio.get_running_loop()
    cpu_s, began = server.cpu_s(), loop.time()
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (20, FILES))
    for _ in range(40):
        await server.connect(HALF)
    await always(lambda: server.log.stat().st_size <= MOST_LOG, during=3.0)
    assert (server.cpu_s() - cpu_s) / (loop.time() - began) <= MOST_OF_A_CORE
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
    await server.answers()


async def test_abandoned_sessions_take_no_more_room(server: Attacked) -> None:
    first = await server.session()
    for number in range(6 * SESSIONS):
        if number == 2 * SESSIONS:
            held = server.memory_kb()
        client = await server.connect()
        assert b"mcp-session-id" in await client.post(INITIALIZE)
        client.writer.close()
    assert server.memory_kb() - held < SESSIONS * 50
    client = await server.connect()
    assert b" 404 " in await client.post(LIST, session=first)
    await server.answers()
