"""Folders that an earlier version wrote open as they are: settings, records, results, jobs.

`data/state_of_0_1.zip` holds what the version wrote in which kernel, server and command line were
one distribution: a lecture that was analysed, its scenes as a job, and a job that was killed.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from vr_kernel import Kernel, load_config

FORMER = Path(__file__).parents[1] / "data" / "state_of_0_1.zip"
GONE = ("max_redirects in [kernel.http]", "user_agent in [kernel.http]", "path in [kernel.serve]")


@pytest.fixture
def former(tmp_path: Path) -> dict[str, str]:
    """The environment of one who had that version."""
    with zipfile.ZipFile(FORMER) as kept:
        kept.extractall(tmp_path)
    folders = {f"VR_{each.upper()}_DIR": str(tmp_path / each) for each in ("state", "cache")}
    roots = {"VR_KERNEL__ALLOWED_ROOTS": str(tmp_path), "HOME": str(tmp_path)}
    return {**folders, **roots, "VR_CONFIG_DIR": str(tmp_path / "config")}


async def test_what_an_earlier_version_kept_is_there(
    former: dict[str, str], tmp_path: Path
) -> None:
    async with Kernel.open(load_config(former)) as kernel:
        found = await kernel.call("knowledge_search", query="owls hunt", limit=1)
        lecture = str(tmp_path / "lecture.mp4")
        scenes = await kernel.call("video_scenes", file_path=lecture, ocr=False)
        jobs = {job.tool: job for job in (await kernel.call("job_list")).jobs}
        done = await kernel.call("job_result", job_id=jobs["video_scenes"].job_id)
    assert "Owls hunt at night." in str(found.results[0])
    assert scenes.cached
    assert [scene.start for scene in scenes.scenes] == [0, 2]
    assert Path(scenes.scenes[0].thumbnail_path).parent == tmp_path / "state" / "artifacts"
    assert done.result["found"] == 2
    assert jobs["video_analyze"].state == "interrupted"


async def test_settings_that_are_gone_are_each_said_to_be_without_effect(
    former: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    async with Kernel.open(load_config(former)):
        said = capfd.readouterr().err
    assert [said.count(f"{name} has no effect any more") for name in GONE] == [1, 1, 1]
