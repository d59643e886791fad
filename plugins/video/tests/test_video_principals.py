"""Principals of one server share no words, pictures or records, even of an equal video."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lecture import Lecture
from videokit import open_kernel
from vr_kernel import Kernel

SRT = "1\n00:00:00,500 --> 00:00:03,000\nAn embedding stands for the meaning of a text.\n"


@pytest.fixture
def video(tmp_path: Path) -> Path:
    path = tmp_path / "lecture.mkv"
    path.write_bytes(Lecture((3.0, 3.0), fps=1, container="matroska").encode())
    path.with_suffix(".srt").write_text(SRT, "utf-8")
    return path


async def answered(kernel: Kernel, tool: str, who: str | None, **arguments: Any) -> dict[str, Any]:
    outcome = await kernel.run(tool, arguments, principal=who)
    assert outcome.error is None, outcome.error
    return outcome.data


@pytest.mark.parametrize("tool", ["video_analyze", "video_scenes", "video_transcript"])
async def test_each_watches_and_records_for_itself(tmp_path: Path, video: Path, tool: str) -> None:
    roots = {name: [str(tmp_path)] for name in ("anna", "ben")}
    environ = {"VR_KERNEL__SERVE__ROOTS": json.dumps(roots)}
    async with open_kernel(tmp_path, environ=environ) as kernel:
        kept: dict[str | None, list[Any]] = {}
        for who in (None, "anna", "ben"):
            assert not (await answered(kernel, tool, who, file_path=str(video))).get("cached")
            kept[who] = (await answered(kernel, "infra_cache", who, action="list"))["entries"]
        counts = [len(entries) for entries in kept.values()]
        assert counts[0] == counts[1] == counts[2] > 0
        changes = await kernel.services.journal.changes(0)
        kinds = {
            workspace: sorted(c.kind for c in changes if c.workspace == workspace)
            for workspace in ("default", "anna", "ben")
        }
        assert kinds["default"] == kinds["anna"] == kinds["ben"]
        assert kinds["anna"] or tool == "video_scenes"  # no words on these slides
        later = (await answered(kernel, "infra_cache", None, action="list"))["entries"]
        assert later == kept[None]
