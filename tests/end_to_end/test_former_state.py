"""Folders that an earlier version wrote open as they are: settings, records, results, jobs.

`data/state_of_0_1.zip` holds what the version wrote in which kernel, server and command line were
one distribution: a lecture that was analysed, its scenes as a job, and a job that was killed.
`data/state_of_0_1_worked.zip` is of the last version that kept files of their own for what are rows
now: two conversations, notes, what Gemini keeps, records that the store refused, ended jobs, and
one in which the process died, so that logs of SQLite are left.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from former_state import FORMER, WORKED, in_rows, kept_by, unpacked
from vr_kernel import Kernel, load_config

GONE = ("max_redirects in [kernel.http]", "user_agent in [kernel.http]", "path in [kernel.serve]")


@pytest.fixture
def former(tmp_path: Path) -> dict[str, str]:
    """The environment of one who had that version."""
    return unpacked(FORMER, tmp_path)


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


async def test_what_was_kept_in_files_of_their_own_is_taken_over_once(tmp_path: Path) -> None:
    environment = unpacked(WORKED, tmp_path)
    environment["VR_KNOWLEDGE__NOTES_FOLDER"] = str(tmp_path / "notes")
    state, found = tmp_path / "state", []
    for _ in range(2):
        async with Kernel.open(load_config(environment)) as kernel:
            found.append(await kept_by(kernel))
        found[-1]["rows"] = in_rows(state)
    assert found[0] == found[1]
    (first, _) = found
    assert first["refused"] == [(f"refused {number}", 5) for number in range(3)]
    assert first["contexts"] == ["cachedContents/fake00000001", "cachedContents/fake00000002"]
    assert first["uploads"] == ["https://files.example/0", "https://files.example/1"]
    assert first["sessions"] == {"before": 2, "after": 2}
    assert all(text.count("glacier") >= 2 for text in first["exported"])
    assert first["jobs"] == {
        "video_analyze": ["done", "done", "done", "interrupted"],
        "video_continue_session": ["done"] * 4,
    }
    assert {"Pump", "Owls"} <= first["notes"]
    assert first["calls"] == 9
    for name in ("gemini.db", "notes.db", "refused.db", "sessions.db"):
        assert [path.name for path in state.glob(f"{name}*")] == [f"{name}.adopted"]
