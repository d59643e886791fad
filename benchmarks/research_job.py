"""One job of research on the fixed corpus, in a process of its own.

`python -m benchmarks.research_job JOB FOLDER` prints what was found as one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.environments import ROOT

RESULT = "benchmark result: "
TESTS = ROOT / "plugins" / "research" / "tests"
"""Has the corpus, the scripted model, and the kernels with both."""
LIMIT_S = 7_200
SOURCES, SOURCE_S = 20, 1.0
LONG = {"depth": 4, "sources": 12, "search_in": ["web"]}


def run_research_job(job: str, folder: Path, *more: object) -> Any:
    """Run a job in a fresh process.

    Raises:
        RuntimeError: when it fails.
    """
    folder.mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.research_job", job, str(folder), *map(str, more)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith(RESULT)]
    if done.returncode or not lines:
        raise RuntimeError(f"{job} failed:\n{done.stderr[-4000:]}")
    return json.loads(lines[-1].removeprefix(RESULT))


async def figures(folder: Path) -> Any:
    """Quotes that were caught, refused and moved, and contradictions, over the whole corpus."""
    kit, corpus = import_module("researchkit"), import_module("station_corpus")
    model = import_module("scripted_model").ScriptedModel()
    async with kit.open_desk(folder, model=model) as desk:
        report = await desk.research(scope="comprehensive", documents=kit.ALL)
    quotes = [each for claim in report.findings for each in claim.supporting]
    refused = {each.quote for each in quotes if each.status == "not_found"}
    moved = {each.quote.rstrip("."): each.place for each in quotes if each.status == "moved"}
    wanted = {line.rstrip("."): place for line, place in model.moved.items()}
    said = {each.id: each.claim for each in report.findings}
    pairs = {frozenset({said[it.claim_a], said[it.claim_b]}) for it in report.contradictions}
    one, other = {corpus.FIRST, corpus.SECOND}, {corpus.OPENED, corpus.REOPENED}
    known = {frozenset(one), frozenset(other)}
    return {
        "sources": len(report.sources),
        "quotes": len(quotes),
        "invented": len(model.invented),
        "caught": len(model.invented & refused),
        "true": len(model.true) + len(model.moved),
        "refused": len(refused - model.invented),
        "to move": len(wanted),
        "moved": sum(_is_in(moved.get(quote, ""), place) for quote, place in wanted.items()),
        "contradictions": len(pairs & known),
        "false contradictions": len(pairs - known),
    }


def _is_in(place: str, part: str) -> bool:
    """True for the very page, or a second of the part, each of which lasts a minute."""
    return place == part or (":" in place and place.partition(":")[0] == part.partition(":")[0])


async def sources(folder: Path, at_once: str) -> Any:
    """Seconds that so many sources of one second each take, and the whole call."""
    kit, corpus = import_module("researchkit"), import_module("station_corpus")
    begun: list[float] = []
    read: list[float] = []

    async def opened(_address: str) -> None:
        begun.append(time.perf_counter())
        await asyncio.sleep(SOURCE_S)

    def report(_done: float, _total: float | None, message: str) -> None:
        if ": read " in message:
            read.append(time.perf_counter())

    asked = {"topic": kit.TOPIC, "documents": kit.ALL[:SOURCES], "search_in": [], "depth": 1}
    shelf = corpus.Shelf(opened)
    async with kit.open_desk(folder, shelf=shelf, concurrency=int(at_once)) as desk:
        before = time.perf_counter()
        outcome = await desk.kernel.run("research_deep", {**asked, "sources": SOURCES}, report)
        whole = time.perf_counter() - before
    assert outcome.error is None, outcome.error
    assert len(read) == SOURCES
    return {"reading": max(read) - min(begun), "whole": whole}


async def budget(folder: Path) -> Any:
    """A piece of research, and the same with half of what it cost."""
    kit, models = import_module("researchkit"), import_module("scripted_model")
    found: list[dict[str, Any]] = []
    for name in ("whole", "half"):
        asked = [models.OUTPUT, models.OPENING, models.UNKNOWN]
        model = models.ScriptedModel(questions=asked)
        cap = {"budget": found[0]["usd"] / 2} if found else {}
        async with kit.open_desk(folder / name, model=model) as desk:
            report = await desk.research(**LONG, **cap)
            found.append(
                {
                    "usd": desk.gemini.bill.cost_usd,
                    "rounds": len(report.rounds),
                    "read": len(report.sources),
                    "claims": len(report.findings),
                    "summary": bool(report.executive_summary),
                    "status": report.status,
                    "by model": "executive_summary" in desk.asked,
                }
            )
    return found


async def verify(folder: Path) -> Any:
    """Requests of a verification, and the checks that came out as before."""
    kit = import_module("researchkit")
    async with kit.open_desk(folder) as desk:
        report = await desk.research(documents=kit.ALL, depth=1)
        desk.gemini.forget()
        desk.shelf.loads.clear()
        desk.shelf.searches.clear()
        before = time.perf_counter()
        found: Any = await desk.kernel.call("research_verify", report_id=report.report_id)
        seconds = time.perf_counter() - before
        network = len(desk.gemini.requests) + len(desk.shelf.loads) + len(desk.shelf.searches)
    return {
        "network": network,
        "claims": found.claims,
        "unchanged": found.claims - len(found.changed_claims),
        "quotes": found.score.quotes,
        "seconds": seconds,
    }


async def tokens(folder: Path) -> Any:
    """Tokens that the requests of each task send, on average, as the fake counts them."""
    from vr_kernel import estimate_tokens

    kit = import_module("researchkit")
    async with kit.open_desk(folder) as desk:
        await desk.research(documents=kit.ALL[:SOURCES], depth=1)
        asked = [each for each in desk.gemini.requests if each.generates]
        names = desk.asked
    sizes: dict[str, list[int]] = {}
    for name, request in zip(names, asked, strict=True):
        sizes.setdefault(name, []).append(estimate_tokens(request.system + request.text))
    return {name: round(sum(each) / len(each)) for name, each in sizes.items()}


async def claims(_folder: Path) -> Any:
    """Claims that say the same in other words' order, and claims about other things."""
    from vr_plugin_research.evidence.likeness import sense_of

    corpus, chance = import_module("station_corpus"), random.Random(1)
    numbers = range(corpus.COUNT)
    rows = [[line for page in corpus.pages_of(number) for line in page] for number in numbers]
    equal = [(line, _turned(line, chance)) for row in rows for line in row]
    other = [
        (row[at], further[at])
        for number, row in enumerate(rows)
        for further in rows[number + 1 :]
        for at in range(len(row))
    ]
    return {
        "equal": len(equal),
        "joined": sum(sense_of(one) == sense_of(two) for one, two in equal),
        "other": len(other),
        "confused": sum(sense_of(one) == sense_of(two) for one, two in other),
    }


def _turned(line: str, chance: random.Random) -> str:
    """A claim whose parts stand in another order."""
    words = line.rstrip(".").split()
    at = chance.randrange(2, len(words) - 2)
    return " ".join([*words[at:], "-", *words[:at]])


async def kills(folder: Path, count: str) -> Any:
    """Researches that are killed at random moments; the first that pays twice raises."""
    return await asyncio.to_thread(_kill, folder, int(count))


def _kill(folder: Path, count: int) -> Any:
    killed, chance = import_module("killed_research"), random.Random(count)
    with killed.KilledResearch(folder) as calls:
        calls.begin(killed.RESEARCH)
        for number in range(count):
            calls.kill_at_random(replace(killed.RESEARCH, resumed=number % 2 == 1), chance)
        return {"kills": count, "requests": calls.requests, "arrivals": calls.arrivals}


JOBS: dict[str, Callable[..., Coroutine[Any, Any, Any]]] = {
    job.__name__: job for job in (figures, sources, budget, verify, tokens, claims, kills)
}


def main(job: str, folder: str, more: Sequence[str]) -> None:
    """Run a job."""
    sys.path.insert(0, str(TESTS))
    print(RESULT + json.dumps(asyncio.run(JOBS[job](Path(folder), *more))))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
