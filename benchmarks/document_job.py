"""One job about documents in a process of its own, so that its peak memory is its own.

`python -m benchmarks.document_job JOB PATH` prints what was found as one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks.environments import HERE, ROOT
from benchmarks.processes import own_peak_mb

RESULT = "benchmark result: "
QUESTIONS = HERE / "manual_questions.json"
"""Written from the index of the manual; the pages are those of the sections that it points to."""
SAMPLED = 102
ROUNDS = 5
FILES, IN_FOLDER = 10_000, 100


def run_document_job(job: str, path: Path, home: Path) -> Any:
    """Run a job in a fresh process with an empty home folder.

    Raises:
        RuntimeError: when it fails.
    """
    hidden = ("VR_", "XDG_", "GEMINI_")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(hidden)}
    folders = {f"VR_{name}_DIR": str(home / name.lower()) for name in ("CONFIG", "STATE", "CACHE")}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.document_job", job, str(path)],
        env={**kept, **folders, "HF_HUB_OFFLINE": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith(RESULT)]
    if done.returncode or not lines:
        raise RuntimeError(f"{job} of {path} failed:\n{done.stderr[-3000:]}")
    return json.loads(lines[-1].removeprefix(RESULT))


async def places(kernel: Any, manual: Path) -> Any:
    """The pages of sampled passages: is the text there, by the bare library?"""
    import pypdfium2

    await kernel.call("content_read", source=str(manual))
    changes = await kernel.services.journal.changes(0, 100_000)
    passages = [it.fields for it in changes if it.kind == "DocumentPassages"]
    pdf = pypdfium2.PdfDocument(manual)
    sample = random.Random(7).sample(passages, SAMPLED)
    right = sum(_plain(it["text"])[:200] in _plain(_page(pdf, it["page"])) for it in sample)
    return {"sampled": len(sample), "right": right, "pages": len(pdf), "passages": len(passages)}


async def speed(kernel: Any, manual: Path) -> Any:
    """Seconds to read new copies of the manual, and seconds of a bare loop, in turn."""
    import pypdfium2

    content, pairs = await asyncio.to_thread(manual.read_bytes), []
    for number in range(ROUNDS + 1):
        copy = manual.with_name(f"copy-{number}.pdf")
        await asyncio.to_thread(copy.write_bytes, content + b"\n%%%d" % number)
        began = time.perf_counter()
        await _load(kernel, copy)
        ours = time.perf_counter() - began
        began = time.perf_counter()
        for page in pypdfium2.PdfDocument(copy):
            page.get_textpage().get_text_range()
        pairs.append((ours, time.perf_counter() - began))
        copy.unlink()
    return {"pairs": pairs[1:]}


async def search(kernel: Any, manual: Path) -> Any:
    """The pages that are found for questions of the manual's index."""
    await kernel.call("content_read", source=str(manual))
    while await _lags(kernel):  # noqa: ASYNC110 - a store tells nobody when it is done
        await asyncio.sleep(0.2)
    found = []
    for question in json.loads(QUESTIONS.read_text("utf-8")):
        hits = await kernel.call("knowledge_search", query=question["question"], limit=3)
        pages = [hit.locator["page"] for hit in hits.results if hit.locator]
        found.append({**question, "found": pages[:3]})
    return found


async def _lags(kernel: Any) -> bool:
    """True while the store lacks passages, or vectors of them."""
    status = await kernel.services.store.status()
    return bool(status.delivered < status.recorded or status.pending_vectors)


async def memory(kernel: Any, folder: Path) -> Any:
    """MB that the server grew by, for each hostile file of a folder."""
    await _load(kernel, ROOT / "README.md")
    grown = {}
    for path in await asyncio.to_thread(lambda: sorted(folder.iterdir())):
        before = own_peak_mb()
        outcome = await kernel.run("content_read", {"source": str(path)})
        told = outcome.error.category if outcome.error else "read"
        grown[path.name] = {"mb": own_peak_mb() - before, "told": told}
    return grown


async def folder(kernel: Any, path: Path) -> Any:
    """Seconds to recognise a folder that has not changed, and of a bare stat of its files."""
    await kernel.call("content_read", source=str(path))
    paths = await asyncio.to_thread(lambda: [it for it in path.rglob("*") if it.is_file()])
    pairs = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        await _load(kernel, path)
        ours = time.perf_counter() - began
        began = time.perf_counter()
        for each in paths:
            os.stat(each)  # noqa: PTH116 - the floor
        pairs.append((ours, time.perf_counter() - began))
    return {"pairs": pairs, "files": len(paths)}


async def _load(kernel: Any, path: Path) -> Any:
    return await kernel.call("bench_load", source=str(path))


def _page(pdf: Any, number: int) -> str:
    return str(pdf[number - 1].get_textpage().get_text_range())


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text))


JOBS: dict[str, Callable[[Any, Path], Awaitable[Any]]] = {
    job.__name__: job for job in (places, speed, search, memory, folder)
}


FOUND = ("search",)
"""Jobs that need the plugins that find passages; their models would count as memory."""


async def main(job: str, path: Path) -> None:
    """Run a job with a kernel of all plugins, and one tool that loads a document."""
    from types import SimpleNamespace

    from pydantic import BaseModel
    from vr_kernel import READ_ONLY, Call, Kernel, hookimpl, load_config, tool

    class Loaded(BaseModel):
        segments: int

    @tool(effects=READ_ONLY)
    async def bench_load(call: Call, source: str) -> Loaded:
        """Load a document."""
        document = await call.services.documents.load(call, source)
        return Loaded(segments=len(document.segments))

    bench_load.__annotations__.update(call=Call, source=str)
    bench_load.__annotations__["return"] = Loaded

    @hookimpl
    def vr_tools() -> list[Any]:
        return [bench_load]

    from importlib import import_module

    names = {
        "content": "vr_plugin_content.plugin",
        "knowledge": "vr_plugin_knowledge.plugin",
        "embedder-minilm": "vr_embedder_minilm.plugin",
    }
    wanted = names if job in FOUND else {"content": names["content"]}
    plugins = {name: import_module(module) for name, module in wanted.items()}
    given = {**plugins, "bench": SimpleNamespace(vr_tools=vr_tools)}
    roots = [path.parent, path, ROOT]
    async with Kernel.open(load_config(), given, roots=roots) as kernel:
        print(RESULT + json.dumps(await JOBS[job](kernel, path)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
