"""Time of batches beside their model alone, and beside a bare client of the provider."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from pathlib import Path
from shutil import rmtree
from statistics import median

from benchmarks.environments import HERE, Environments
from benchmarks.paid_work import SEEN, asked, call, connected, variables
from benchmarks.rows import Row, bar

BATCH = 20
AT_ONCE = (3, 8, 20)
PEER_AT_ONCE = 3
"""Fixed in the peer."""
MOST_ROUNDS = 5
"""A round takes half a minute."""
SETTLE_S = 3.0
"""For what the first call begins in the background, such as loading an embedding model."""
LATENCY_S = 1.0
"""How long the fake model thinks."""
BARE = HERE / "servers" / "bare_gemini.py"


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Batches by ours and by a bare client in turn, so that neighbours hit both alike."""
    peer = asyncio.run(_batch(environments, "peer", PEER_AT_ONCE))
    rows = []
    for at_once in AT_ONCE:
        pairs = [
            (asyncio.run(_batch(environments, "ours", at_once)), _bare(environments, at_once))
            for _ in range(min(rounds, MOST_ROUNDS))
        ]
        ideal = -(-BATCH // at_once) * LATENCY_S
        ours, bare = (median(side) for side in zip(*pairs, strict=True))
        rows.append(
            bar(
                f"batch of {BATCH} with a model of 1 s, {at_once} at a time, s",
                ours,
                floor=bare,
                peer=peer if at_once == PEER_AT_ONCE else "",
                ratio=median(one / other for one, other in pairs),
                by=ours / ideal,
                sign="<=",
                limit=1.1,
                unit=f"x {ideal:g} s",
            )
        )
        beside = f"the same, times the {ideal:g} s of the model alone"
        rows.append(Row(beside, ours / ideal, bare / ideal))
    return rows


async def _batch(environments: Environments, name: str, at_once: int) -> float:
    """Seconds for a folder of small videos that differ."""
    from vr_testing import FakeGemini

    home = _home(environments, name, at_once)
    with FakeGemini() as gemini:
        gemini.answer(SEEN, when=lambda request: "title" in str(request.schema))
        settings = {"VR_VIDEO__BATCH_CONCURRENCY": str(at_once)}
        environment = getattr(environments, name)
        async with connected(environment, home, gemini, settings) as (client, _):
            await call(client, "video_batch_analyze", directory=str(home / "warm"))
            await asyncio.sleep(SETTLE_S)
            gemini.latency = LATENCY_S
            began = time.perf_counter()
            await call(client, "video_batch_analyze", directory=str(home / "videos"))
            seconds = time.perf_counter() - began
        if len(asked(gemini)) <= BATCH:
            raise RuntimeError(f"{name} left videos out")
    return seconds


def _bare(environments: Environments, at_once: int) -> float:
    """Seconds for the same requests by google-genai alone, in a process of its own."""
    from vr_testing import FakeGemini

    home = _home(environments, "bare", at_once)
    with FakeGemini() as gemini:
        gemini.answer(SEEN, when=lambda request: "title" in str(request.schema))
        command = [str(environments.ours.python), str(BARE), str(home), str(at_once)]
        with subprocess.Popen(
            command,
            env=variables(home, gemini),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin
            assert process.stdout
            process.stdout.readline()  # it is warm
            gemini.latency = LATENCY_S
            said, _ = process.communicate("go\n")
        if process.returncode or len(asked(gemini)) <= BATCH:
            raise RuntimeError("the bare client left videos out")
    return float(json.loads(said)["seconds"])


def _home(environments: Environments, name: str, at_once: int) -> Path:
    """A folder with the videos of one batch, and one to begin with."""
    home = environments.home(f"batch-{name}-{at_once}")
    rmtree(home)
    for folder in ("warm", "videos"):
        (home / folder).mkdir(parents=True)
    _clip(home / "warm" / "clip.mkv", 0)
    for number in range(1, BATCH + 1):
        _clip(home / "videos" / f"clip-{number:02}.mkv", number)
    return home


def _clip(path: Path, number: int) -> None:
    """Ten seconds of one gray; every number gives another file."""
    import av
    import numpy as np

    with av.open(str(path), "w") as output:
        output.metadata["title"] = f"Clip {number}"
        stream = output.add_stream("libx264", rate=1, options={"preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = 64, 36, "yuv420p"
        for _ in range(10):
            gray = np.full((36, 64, 3), 10 * number, np.uint8)
            output.mux(stream.encode(av.VideoFrame.from_ndarray(gray, format="rgb24")))
        output.mux(stream.encode(None))
