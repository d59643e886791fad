"""A kernel that has done real work, what it answers afterwards, and what is kept in its files."""

from __future__ import annotations

import asyncio
import inspect
import io
import sqlite3
import wave
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vr_kernel import Check, VrError
from vr_kernel.diagnosis.databases import database_checks
from vr_plugin_knowledge import plugin as knowledge
from vr_plugin_video import plugin as video
from vr_testing import FakeGemini, TrialKernel, open_kernel

SECRET = "glacier"
"""A word of titles, questions and answers: no message may hold it."""
PARTS = ("before", "after")
"""The first half of the work, of which older copies are, and the second."""
KEYS = {
    "journal.db": {"record": "workspace, kind, key"},
    "rows.db": {"entry": "namespace, workspace, principal, key"},
    "usage.db": {"attempt": "id"},
    "jobs.db": {"job": "id"},
    "results.db": {"result": "key"},
    "vectors.db": {"vector": "embedder, sha256"},
    "digests.db": {"digest": "path"},
    "knowledge.db": {"item": "scope, key"},
}
"""What must not be lost, by file and table."""


@asynccontextmanager
async def opened(home: Path, gemini: FakeGemini) -> AsyncIterator[TrialKernel]:
    """A kernel of that folder with both plugins, the embedded store and a notes folder."""
    variables = {
        "GEMINI_API_KEY": "any",
        "GOOGLE_GEMINI_BASE_URL": gemini.url,
        "GEMINI_RETRY_BASE_DELAY": "0.01",
        "VR_VIDEO__YOUTUBE_SITE": "http://127.0.0.1:9",
        "VR_VIDEO__SPEECH_MODEL": "none",
    }
    settings = {
        "store.backend": "embedded",
        "plugins.knowledge.notes_folder": str(home / "notes"),
        "kernel.log_level": "error",
    }
    plugins = {"video": video, "knowledge": knowledge}
    async with open_kernel(plugins, settings=settings, variables=variables, folder=home) as kernel:
        yield kernel


async def work(kernel: TrialKernel, home: Path, part: str) -> None:
    """Analyse, ingest, search, talk about it: a part of the work."""
    file = home / f"{part}.wav"
    await asyncio.to_thread(file.write_bytes, silence(3 if part == PARTS[0] else 4))
    await kernel.call("video_analyze", **analysis(home, part))
    await kernel.call("knowledge_ingest", **card(part))
    begun: Any = await kernel.call(
        "video_create_session", file_path=str(file), description=f"About the {SECRET} {part}"
    )
    for question in ("How old?", "How long?"):
        await kernel.call(
            "video_continue_session", session_id=begun.session_id, prompt=f"{question} {SECRET}"
        )
    await kernel.call("knowledge_search", query=SECRET)


def analysis(home: Path, part: str) -> dict[str, str]:
    """The arguments of an analysis of the work."""
    path = str(home / f"{part}.wav")
    return {"file_path": path, "engine": "gemini", "instruction": f"Find the {SECRET}"}


def card(name: str) -> dict[str, Any]:
    """The arguments of an ingest of the work."""
    title = f"{SECRET} {name}"
    properties = {"title": title, "summary": title, "video_id": title}
    return {"collection": "VideoAnalyses", "properties": properties}


@dataclass
class Round:
    """Answers of all groups of tools, and the log of them.

    Attributes:
        failed: categories of errors, by tool.
        told: notes, errors and lines of the log.
        paid: requests to models that the two analyses cost.
        titles: of the cards that a search found.
        sessions: ids that were listed, with their numbers of turns.
        calls: paid calls in the report of use, and how many this round added at least.
    """

    failed: dict[str, str] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    paid: int = 0
    titles: set[str] = field(default_factory=set)
    sessions: dict[str, int] = field(default_factory=dict)
    jobs: int = 0
    calls: int = 0


async def go_round(kernel: TrialKernel, home: Path, gemini: FakeGemini) -> Round:
    """Use every group of tools once; a search that is told to come back does."""
    done = Round()

    def hear(level: str, event: str, fields: Mapping[str, Any]) -> None:
        if level not in ("debug", "info"):
            done.told.append(f"{event} {dict(fields)}")

    async def use(tool: str, **arguments: Any) -> Mapping[str, Any]:
        outcome = await kernel.run(tool, arguments)
        done.told += outcome.notes
        if outcome.error is None:
            done.told += outcome.data.get("limits", [])
            return outcome.data
        error = outcome.error
        done.failed[tool] = f"{error.code} {error.category}"
        done.told.append(f"{error.message} {error.hint}")
        return {}

    with kernel.log.heard_by(hear):
        before = len(gemini.requests_of("generateContent"))
        for part in PARTS:
            await use("video_analyze", **analysis(home, part))
        done.paid = len(gemini.requests_of("generateContent")) - before
        await use("knowledge_ingest", **card("later"))
        for _ in range(5):
            done.failed.pop("knowledge_search", None)
            found = await use("knowledge_search", query=SECRET, limit=50, search_type="keyword")
            hits = [hit["properties"].get("title", "") for hit in found.get("results", [])]
            done.titles = {title for title in hits if title.startswith(SECRET)}
            if len(done.titles) == len(PARTS) + 1:
                break
            await asyncio.sleep(0.05)
        listed = (await use("video_list_sessions")).get("sessions", [])
        done.sessions = {each["session_id"]: each["turn_count"] for each in listed}
        if listed:
            chosen = listed[-1]["session_id"]
            await use("video_continue_session", session_id=chosen, prompt=f"Why? {SECRET}")
            await use("video_export_session", session_id=chosen)
        done.jobs = len((await use("job_list")).get("jobs", []))
        await use("infra_cache")
        await use("knowledge_stats")
        done.calls = (await use("infra_usage")).get("total", {}).get("calls", 0)
    return done


async def examine(kernel: TrialKernel) -> list[str]:
    """Faults of the files that `vr doctor` finds."""
    services = {name: kernel._plugins.contexts[name].services for name in ("video", "knowledge")}
    plugins = (video, knowledge)
    checks: list[Check] = database_checks(kernel.config.paths, 20.0)
    for plugin, own in zip(plugins, services.values(), strict=True):
        checks += [c for c in plugin.vr_health(own) if c.name.startswith(("store", "notes"))]
    found = []
    for check in checks:
        try:
            answer = check.examine()
            diagnosis = await answer if inspect.isawaitable(answer) else answer
            if diagnosis.level != "ok":
                found.append(f"{check.name}: {diagnosis.what} {diagnosis.fix}")
        except VrError as error:
            found.append(f"{check.name}: {error.message} {error.hint}")
    return found


def kept(home: Path) -> dict[str, set[str]]:
    """The keys of what must not be lost, by file; a file that cannot be read has none."""
    return {name: _keys(path, KEYS[name]) for path in files(home) if (name := path.name) in KEYS}


def files(home: Path) -> list[Path]:
    """Every database of state and cache."""
    return sorted([*(home / "state").glob("*.db"), *(home / "cache").glob("*.db")])


def _keys(path: Path, tables: Mapping[str, str]) -> set[str]:
    found: set[str] = set()
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.text_factory = bytes
            for table, columns in tables.items():
                for row in connection.execute(f"SELECT {columns} FROM {table}"):
                    found.add(f"{table} {row}")
    except sqlite3.Error:
        return set()
    return found


def silence(seconds: int) -> bytes:
    """A sound file of that length."""
    target = io.BytesIO()
    with wave.open(target, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(2 * seconds * 8000))
    return target.getvalue()
