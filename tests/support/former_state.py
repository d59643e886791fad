"""State folders as earlier versions left them, and what a kernel finds in one."""

from __future__ import annotations

import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

from vr_kernel import Kernel

DATA = Path(__file__).parents[1] / "data"
FORMER, WORKED = DATA / "state_of_0_1.zip", DATA / "state_of_0_1_worked.zip"


def unpacked(archive: Path, tmp_path: Path) -> dict[str, str]:
    """Unpack a folder and return the environment that names it; nothing in it is too old."""
    with zipfile.ZipFile(archive) as kept:
        kept.extractall(tmp_path)
    folders = {f"VR_{each.upper()}_DIR": str(tmp_path / each) for each in ("state", "cache")}
    roots = {"VR_KERNEL__ALLOWED_ROOTS": str(tmp_path), "HOME": str(tmp_path)}
    lasting = {"VR_KERNEL__JOB_TTL_DAYS": "99999", "VR_KERNEL__CACHE_TTL_DAYS": "99999"}
    return {**folders, **roots, **lasting, "VR_CONFIG_DIR": str(tmp_path / "config")}


def in_rows(state: Path) -> list[tuple[object, ...]]:
    """All that is kept as rows, with the versions; but for places in a journal that goes on."""
    query = "SELECT * FROM entry WHERE key NOT LIKE '%/cursor' ORDER BY version"
    with closing(sqlite3.connect(state / "rows.db")) as connection:
        return connection.execute(query).fetchall()


async def kept_by(kernel: Kernel) -> dict[str, Any]:
    """Return what a kernel has of the former work."""
    services = kernel.services
    listed = (await kernel.call("video_list_sessions")).sessions
    exported = [
        await kernel.call("video_export_session", session_id=each.session_id) for each in listed
    ]
    jobs: dict[str, list[str]] = {}
    for job in (await kernel.call("job_list", limit=50)).jobs:
        jobs.setdefault(job.tool, []).append(job.state)
    notes = await kernel.call("knowledge_search", query="owls hunt pump lid", limit=20)
    return {
        "refused": sorted((it.key, it.tries) for it in await services.store.dead_letters()),
        "contexts": sorted(it.name for it in await services.gemini.context_caches()),
        "uploads": [row.value["uri"] for row in await services.rows_of("gemini").list("upload/")],
        "sessions": {each.video_title: each.turn_count for each in listed},
        "exported": [str(each) for each in exported],
        "jobs": {tool: sorted(states) for tool, states in jobs.items()},
        "notes": {hit.properties.get("title", "") for hit in notes.results},
        "calls": (await kernel.call("infra_usage")).total.calls,
    }
