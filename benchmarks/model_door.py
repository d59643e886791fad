"""Cost of the kernel's door to models: the same question through it and by the bare client."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from statistics import median
from typing import Any

from benchmarks.environments import Environments
from benchmarks.rows import Row, bar
from benchmarks.start import in_turn

BLOCK = 50
LIMIT_MS = 2.0
MODEL = "gemini-3.8-flash"
KEY = "any"
QUESTION = "What is 2 + 2?"
Ask = Callable[[], Awaitable[object]]


def measure(_environments: Environments, rounds: int) -> list[Row]:
    """Ask a fake service in another process, through the door and by the SDK, block by block."""
    mine, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,))
    process.start()
    try:
        seconds = asyncio.run(_asked(mine.recv(), rounds))
    finally:
        mine.send("stop")
        process.join()
    door, bare = (median(seconds[name]) * 1000 for name in ("door", "bare"))
    above = median(one - other for one, other in zip(seconds["door"], seconds["bare"], strict=True))
    return [
        Row("a question, ms", door, bare, ratio=door / bare),
        bar("the door's own time, ms", above * 1000, sign="<=", limit=LIMIT_MS, unit="ms"),
    ]


def _serve(pipe: Connection) -> None:
    from vr_testing import FakeGemini

    with FakeGemini() as gemini:
        gemini.answer("Four.")
        pipe.send(gemini.url)
        pipe.recv()


async def _asked(url: str, rounds: int) -> dict[str, list[float]]:
    """Median seconds of a question in each block."""
    from google import genai
    from google.genai import types
    from vr_testing import open_kernel

    options = types.HttpOptions(base_url=url, api_version="v1beta")
    client = genai.Client(api_key=KEY, http_options=options)
    variables = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_MODEL": MODEL}
    seconds: dict[str, list[float]] = {"door": [], "bare": []}
    async with open_kernel({}, variables=variables) as kernel:
        ways: dict[str, Ask] = {
            "door": lambda: kernel.services.models.generate(QUESTION),
            "bare": lambda: client.aio.models.generate_content(**_bare_request(types)),
        }
        for ask in ways.values():  # the first one imports and connects
            await _block(ask)
        for name in in_turn(ways, rounds):
            seconds[name].append(await _block(ways[name]))
    await client.aio.aclose()
    return seconds


def _bare_request(types: Any) -> dict[str, Any]:
    """The request that the door sends, as one writes it for the SDK alone."""
    part = types.Part(text=QUESTION)
    return {
        "model": MODEL,
        "contents": [types.Content(role="user", parts=[part])],
        "config": types.GenerateContentConfig(
            thinking_config=types.ThinkingConfig(thinking_level="HIGH"),
            http_options=types.HttpOptions(timeout=600_000),
        ),
    }


async def _block(ask: Ask) -> float:
    seconds = []
    for _ in range(BLOCK):
        before = time.perf_counter()
        await ask()
        seconds.append(time.perf_counter() - before)
    return median(seconds)
