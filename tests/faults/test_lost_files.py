"""A journal that is lost, or cannot be written: what was found stays, what comes is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from vr_kernel import Code, Kernel, VrError, load_config


def _environment(folder: Path) -> dict[str, str]:
    names = {"CONFIG": "config", "STATE": "state", "CACHE": "cache"}
    return {f"VR_{name}_DIR": str(folder / part) for name, part in names.items()}


async def _ingest(kernel: Kernel, title: str) -> Any:
    properties = {"title": title, "summary": title, "video_id": title}
    return await kernel.call("knowledge_ingest", collection="VideoAnalyses", properties=properties)


async def _titles(kernel: Kernel, question: str) -> list[str]:
    found: Any = await kernel.call("knowledge_search", query=question, search_type="keyword")
    return [hit.properties["title"] for hit in found.results]


async def test_a_lost_journal_does_not_cut_off_the_store(tmp_path: Path) -> None:
    environment = _environment(tmp_path)
    async with Kernel.open(load_config(environment)) as kernel:
        for number in range(5):
            await _ingest(kernel, f"glacier number {number}")
        assert len(await _titles(kernel, "glacier")) == 5
    for file in (tmp_path / "state").glob("journal.db*"):
        file.unlink()
    async with Kernel.open(load_config(environment)) as kernel:
        await _ingest(kernel, "volcano")
        assert await _titles(kernel, "volcano") == ["volcano"]
        assert len(await _titles(kernel, "glacier")) == 5


async def test_a_lost_store_is_filled_from_the_journal(tmp_path: Path) -> None:
    environment = _environment(tmp_path)
    async with Kernel.open(load_config(environment)) as kernel:
        await _ingest(kernel, "glacier")
        assert await _titles(kernel, "glacier") == ["glacier"]
    for file in (tmp_path / "state").glob("knowledge.db*"):
        file.unlink()
    async with Kernel.open(load_config(environment)) as kernel:
        assert await _titles(kernel, "glacier") == ["glacier"]


async def test_an_ingest_that_cannot_be_recorded_fails(tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.touch()
    environment = _environment(tmp_path) | {"VR_STATE_DIR": str(blocked / "state")}
    async with Kernel.open(load_config(environment)) as kernel:
        with pytest.raises(VrError) as caught:
            await _ingest(kernel, "glacier")
    assert caught.value.code is Code.UNAVAILABLE
    assert str(blocked) in caught.value.hint
