"""A small disk that fills up at random points of paid work, and is freed: nothing is lost."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from vr_kernel import Kernel
from vr_testing import FakeGemini
from vr_testing.full_disk import fill_up, small_disk
from vr_testing.gemini.request import RecordedRequest
from worked_kernel import card, opened, silence

SEED = 23
FILLS = 50
BYTES, ENOUGH = 8 << 20, 7 << 19
LEFT = (0, 0, 4_096, 40_960, 409_600)
"""What is left free when the disk fills up."""


class Disk:
    """A file system of its own, and somebody who fills it, and may take each byte that is freed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.fills = 0
        self._hog = folder / "hog"
        self._full = threading.Event()
        self._taker: threading.Thread | None = None

    def fill(self, left: int) -> None:
        """Leave so much free; with nothing left, take what others give up, too."""
        if self._full.is_set():
            return
        self.fills += 1
        self._full.set()
        fill_up(self._hog)
        with self._hog.open("r+b", buffering=0) as file:
            file.truncate(max(0, self._hog.stat().st_size - left))
        if not left:
            self._taker = threading.Thread(target=self._take_on)
            self._taker.start()

    def has(self, size: int) -> bool:
        """Check if so much is free, or would be."""
        found = os.statvfs(self.folder)
        hog = self._hog.stat().st_size if self._full.is_set() else 0
        return found.f_bavail * found.f_frsize + hog >= size

    def free(self) -> None:
        """Give all of it back."""
        self._full.clear()
        if self._taker is not None:
            self._taker.join()
            self._taker = None
        self._hog.unlink(missing_ok=True)

    def _take_on(self) -> None:
        pause = threading.Event()
        while self._full.is_set():
            fill_up(self._hog)
            pause.wait(0.0005)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with small_disk(tmp_path / "disk", BYTES) as folder:
        made = Disk(folder)
        try:
            yield made
        finally:
            made.free()


class User:
    """Somebody who makes each call again, with room, until it succeeds."""

    def __init__(self, disk: Disk) -> None:
        self.kernels: list[Kernel] = []
        self.disk, self.home = disk, disk.folder
        self.chance = random.Random(SEED)
        self.ends: Counter[str] = Counter()
        self.sessions: list[str] = []
        self.turns: dict[str, list[str]] = defaultdict(list)
        self.cards: list[str] = []
        self.analyses = 0

    async def do(self, which: int, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a call."""
        for _ in range(20):
            outcome = await self.kernels[which].run(tool, arguments)
            notes = [*outcome.notes, *outcome.data.get("limits", [])]
            held = any("held in memory" in note for note in notes)
            self.ends["refused" if outcome.error else "held" if held else "done"] += 1
            if outcome.error is None:
                lost = [note for note in notes if "Not recorded" in note or "crash" in note]
                assert not lost or outcome.data.get("cached"), lost
                return outcome.data
            error = outcome.error
            assert (error.category, error.retryable) == ("STATE_UNAVAILABLE", True), (
                f"{tool}: {error.message} {error.hint} {error.category}"
            )
            self.disk.free()
        raise AssertionError(f"{tool} never succeeds: {error.message} {error.hint}")

    async def begin(self) -> None:
        """A conversation in each kernel."""
        for which in (0, 1):
            begun = await self.do(
                which, "video_create_session", file_path=str(self.home / "talk.wav")
            )
            self.sessions.append(begun["session_id"])
        seen = {"title": "A glacier", "description": "Older than the hills.", "video_id": "seen"}
        await self.do(0, "knowledge_ingest", collection="VideoMetadata", properties=seen)

    async def work(self, number: int) -> None:
        """One of the things that are paid for, or recorded; then perhaps there is room again."""
        which, kind = number % 2, self.chance.choice("aattttbik")
        if kind == "a":
            await self._analyse(which, f"Look {number}")
        elif kind == "t":
            await self._talk(which, f"Turn {number}")
        elif kind == "k":
            await self._ask(which, f"What does {number} tell of the glacier?")
        elif kind == "b":
            await self._analyse_many(which, f"Compare {number}")
        else:
            await self.do(which, "knowledge_ingest", **card(str(number)))
            self.cards.append(str(number))
        if self.chance.random() < 0.5:
            self.disk.free()

    async def _analyse(self, which: int, instruction: str) -> None:
        asked = {"file_path": str(self.home / "talk.wav"), "engine": "gemini"}
        first = await self.do(which, "video_analyze", instruction=instruction, **asked)
        again = await self.do(which, "video_analyze", instruction=instruction, **asked)
        assert again["summary"] == first["summary"]
        # One whose report found no room is made again, of its steps, and is whole then.
        assert again["cached"] or not first["report_uri"], first["limits"]
        self.analyses += 1

    async def _ask(self, which: int, query: str) -> None:
        for _ in range(20):
            first = await self.do(which, "knowledge_ask", query=query)
            if first["model"]:
                break
            self.ends["refused"] += 1  # told in a note: passages are an answer, too
            self.disk.free()
        again = await self.do(which, "knowledge_ask", query=query)
        assert first["model"], first["notes"]
        assert (again["claims"], again["usage"]) == (first["claims"], None)

    async def _talk(self, which: int, prompt: str) -> None:
        session = self.sessions[which]
        self.turns[session].append(prompt)
        turn = await self.do(which, "video_continue_session", session_id=session, prompt=prompt)
        assert turn["response"] == f"You asked: {prompt}"
        assert turn["turn_count"] == len(self.turns[session])

    async def _analyse_many(self, which: int, instruction: str) -> None:
        asked = {"directory": str(self.home / "many"), "engine": "gemini"}
        for _ in range(20):
            batch = await self.do(which, "video_batch_analyze", instruction=instruction, **asked)
            if batch["ok"] == batch["total"]:
                break
            self.ends["refused"] += batch["failed"]
            self.disk.free()
        assert (batch["ok"], batch["total"]) == (3, 3)
        self.analyses += 3


@pytest.mark.slow
@pytest.mark.timeout(300)  # half the time on a machine that is busy with others
async def test_nothing_is_lost_or_paid_again_on_a_disk_that_fills_up(disk: Disk) -> None:
    home, chance = disk.folder, random.Random(SEED + 1)
    for name in ("talk", "many/1", "many/2", "many/3"):
        (home / "many").mkdir(exist_ok=True)
        (home / f"{name}.wav").write_bytes(silence(1 + len(name) + ord(name[-1]) % 7))

    def fills(_request: RecordedRequest) -> bool:
        if began and chance.random() < 0.8:
            disk.fill(chance.choice(LEFT))
        return False

    began: list[bool] = []
    with FakeGemini() as gemini:
        gemini.answer("", when=fills)
        gemini.answer(_echo, when=lambda request: _last_line(request).startswith("Turn "))
        user, number = User(disk), 0
        while disk.fills < FILLS:
            async with opened(home, gemini) as one, opened(home, gemini) as other:
                user.kernels = [one, other]
                if not began:
                    await user.begin()
                    began.append(True)
                # A log grows to 4 MB before it is taken into its file, but is when that is closed.
                while disk.fills < FILLS and disk.has(ENOUGH):
                    number += 1
                    await user.work(number)
                disk.free()
                usage = await _settled(user.kernels)
                records = await one.services.journal.changes(0, 100_000)
    told = f"seed {SEED}: {dict(user.ends)}, {number} calls, {usage}, {gemini.bill}"
    assert user.ends["refused"] > FILLS / 5, told
    assert user.ends["held"] > 0, told
    _check_bill(usage, gemini)
    _check_records(records, user)
    for file in [*home.glob("state/*.db"), *home.glob("cache/*.db")]:
        with closing(sqlite3.connect(file)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)], file


async def _settled(kernels: Sequence[Kernel]) -> dict[str, Any]:
    """The use of models, once all that was held is written."""
    rooms = [kernel.services.room_of(kernel.config.paths.state) for kernel in kernels]
    for _ in range(1500):
        if not any(room.awaited for room in rooms):
            break
        await asyncio.sleep(0.02)
    return dict((await kernels[0].run("infra_usage", {})).data["total"])


def _check_bill(usage: dict[str, Any], gemini: FakeGemini) -> None:
    maybe = usage["maybe_paid"]
    assert usage["calls"] <= gemini.bill.calls <= usage["calls"] + maybe, (usage, gemini.bill)
    asked = Counter(str(r.body["contents"]) for r in gemini.requests_of("generateContent"))
    assert max(asked.values()) == 1, asked.most_common(3)


def _check_records(changes: Sequence[Any], user: User) -> None:
    kinds = Counter(change.kind for change in changes if change.fields is not None)
    assert kinds["VideoAnalyses"] == user.analyses + len(user.cards)
    assert kinds["SessionTranscripts"] == sum(map(len, user.turns.values()))
    said = defaultdict(list)
    for change in changes:
        if change.kind == "SessionTranscripts":
            said[change.fields["session_id"]].append(change.fields)
    for session, prompts in user.turns.items():
        in_order = sorted(said[session], key=lambda fields: fields["turn_index"])
        assert [fields["turn_prompt"] for fields in in_order] == prompts


def _last_line(request: RecordedRequest) -> str:
    return request.text.splitlines()[-1] if request.text else ""


def _echo(request: RecordedRequest) -> str:
    return f"You asked: {_last_line(request)}"
