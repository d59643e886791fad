"""Documents: exact pages, speed beside the bare library, searches, memory, folders."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.document_job import FILES, IN_FOLDER, run_document_job
from benchmarks.environments import ROOT, Environments
from benchmarks.rows import Row, bar

PACKAGE = "gnuplot-doc"
"""A Debian package with a manual of some 300 pages, with outline and index."""
MANUAL = "usr/share/doc/gnuplot/gnuplot.pdf"


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Run each job in a process of its own; the manual comes from a Debian package."""
    del rounds
    manual = manual_of(environments.folder / "manual")
    with TemporaryDirectory() as home:
        rows = [] if manual is None else _of_manual(manual, Path(home))
        if manual is None:
            rows.append(Row(f"the manual of {PACKAGE}", "skipped: apt-get cannot download it"))
        return [*rows, *_memory(Path(home)), *_folder(Path(home))]


def manual_of(folder: Path) -> Path | None:
    """The manual, downloaded once; None where that cannot be done."""
    manual = folder / MANUAL
    if manual.is_file():
        return manual
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for command in (
            ["apt-get", "-qq", "download", PACKAGE],
            ["sh", "-c", "dpkg-deb -x *.deb ."],
        ):
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return manual if manual.is_file() else None


def _of_manual(manual: Path, home: Path) -> list[Row]:
    placed = run_document_job("places", manual, home / "places")
    speed = run_document_job("speed", manual, home / "speed")["pairs"]
    asked = run_document_job("search", manual, home / "search")
    first = sum(each["found"][:1] != [] and each["found"][0] in each["pages"] for each in asked)
    among = sum(bool({*each["found"]} & {*each["pages"]}) for each in asked)
    sampled, pages = placed["sampled"], placed["pages"]
    ours, bare = (median(side) for side in zip(*speed, strict=True))
    return [
        bar(
            f"passages of {sampled}, whose page is right, of {pages} pages",
            placed["right"],
            sign=">=",
            limit=sampled,
        ),
        bar(
            "text of the manual, s; the bare library's speed that remains",
            ours,
            floor=bare,
            by=median(b / o for o, b in speed),
            sign=">=",
            limit=0.75,
            unit="x",
        ),
        bar(f"questions of {len(asked)}, whose page comes first", first, sign=">=", limit=18),
        bar(f"questions of {len(asked)}, within three", among, sign=">=", limit=len(asked)),
        *(
            Row(f"  {each['question']}", str(each["found"]), str(each["pages"]))
            for each in asked
            if each["found"][:1] == [] or each["found"][0] not in each["pages"]
        ),
    ]


def _memory(home: Path) -> list[Row]:
    sys.path.insert(0, str(ROOT / "tests" / "abuse"))
    documents, elsewhere = import_module("hostile_documents"), import_module("hostile_files")
    folder = home / "hostile"
    folder.mkdir()
    lure = home / "lure.txt"
    lure.write_text("lure")
    makers = {**documents.REFUSED, **documents.CAPPED}
    documents.write(folder, elsewhere.Elsewhere(lure, "http://127.0.0.1:9/"), makers)
    grown: dict[str, Any] = run_document_job("memory", folder, home / "memory")
    worst = max(grown, key=lambda name: grown[name]["mb"])
    told = f"server memory by the worst of {len(grown)} hostile files ({worst}), MB"
    return [bar(told, grown[worst]["mb"], sign="<=", limit=50)]


def _folder(home: Path) -> list[Row]:
    folder = home / "folder"
    for number in range(FILES // IN_FOLDER):
        inner = folder / f"part{number:03}"
        inner.mkdir(parents=True)
        for each in range(IN_FOLDER):
            (inner / f"file{each:03}.txt").write_text(f"Words of file {each} in part {number}.\n")
    found = run_document_job("folder", folder, home / "known")
    ours, bare = (median(side) for side in zip(*found["pairs"], strict=True))
    return [
        bar(
            f"a folder of {found['files']:,} unchanged files is recognised, s",
            ours,
            floor=bare,
            ratio=median(o / b for o, b in found["pairs"]),
            sign="<=",
            limit=3,
            unit="x",
        )
    ]
