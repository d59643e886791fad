"""Inspects a plugin: metadata and imports first, then its code in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from vr_kernel import Config, Diagnosis, Level
from vr_kernel.loading import PluginState, discover

from vr_cli.inspection.findings import Finding, Inspection
from vr_cli.inspection.import_checks import check_imports
from vr_cli.inspection.installed import find_installed
from vr_cli.inspection.metadata_checks import check_metadata, check_name, weigh
from vr_cli.inspection.projects import Project
from vr_cli.inspection.request import LOG, OUTPUT, REPORT, REQUEST, Request
from vr_cli.inspection.subject import Subject

GRACE = 6
"""Longest time of the whole inspection, in deadlines of one import."""
LAST_WORDS = 300


class Inspector:
    """Inspects plugins under one user's settings; it installs nothing and runs no tool."""

    def __init__(self, config: Config) -> None:
        self._settings = config.kernel

    def inspect(self, place: str) -> list[Inspection]:
        """The plugins of a project's folder, or the installed one of that name.

        Raises:
            VrError: NOT_FOUND when there is neither, INVALID_INPUT for a folder without project.
        """
        folder = Path(place).expanduser()
        if folder.name == "pyproject.toml" and folder.is_file():
            folder = folder.parent
        if not folder.is_dir():
            return [self._inspection(find_installed(place))]
        project = Project(folder)
        known = [*project.findings]
        if project.metadata is not None:
            known += check_metadata(project.metadata)
        inspections = [self._inspection(subject, known) for subject in project.subjects]
        version = project.metadata.version if project.metadata else ""
        return inspections or [Inspection("", project.name, version, tuple(known))]

    def _inspection(self, subject: Subject, known: list[Finding] | None = None) -> Inspection:
        status = weigh(subject, discover())
        if known is None:
            known = list(check_metadata(subject.metadata))
        findings = [*known, *check_name(status)]
        findings += check_imports(subject.module, subject.source)
        if status.state is PluginState.LOADED:
            findings += self._run(subject)
        else:
            findings.append(_unimported())
        meta = subject.metadata
        return Inspection(subject.name, meta.name, meta.version, tuple(findings))

    def _run(self, subject: Subject) -> Iterator[Finding]:
        settings = self._settings
        request = Request(
            name=subject.name,
            distribution=subject.metadata.name,
            target=subject.target,
            source=str(subject.source or ""),
            wanted=list(settings.plugins),
            disabled=list(settings.disabled),
            deadline_s=settings.import_deadline_s,
        )
        with TemporaryDirectory(prefix="vr-check-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            (folder / REQUEST).write_text(json.dumps(asdict(request)), "utf-8")
            ended = self._wait_for_child(folder)
            report = folder / REPORT
            if report.is_file():
                for check, found in json.loads(report.read_text("utf-8")):
                    yield check, Diagnosis(Level(found["level"]), found["what"], found["fix"])
            else:
                yield _died(ended, folder / LOG)

    def _wait_for_child(self, folder: Path) -> str:
        command = [sys.executable, "-P", "-m", "vr_cli.inspection.child", str(folder)]
        limit = GRACE * self._settings.import_deadline_s
        with (folder / OUTPUT).open("w+b") as out, (folder / LOG).open("wb") as errors:
            try:
                done = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=errors,
                    timeout=limit,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return f"It did not come to an end in {limit:g} s."
        return f"It ended the process with code {done.returncode}."


def _died(ended: str, log: Path) -> Finding:
    said = log.read_text("utf-8", errors="replace").strip().splitlines()
    last = f" Its last words: {said[-1][:LAST_WORDS]}" if said else ""
    return (
        "import",
        Diagnosis.fault(ended + last, "Import its module in Python, and see what it does."),
    )


def _unimported() -> Finding:
    return (
        "import",
        Diagnosis.fault("Not tried: the kernel would not import it.", "Repair the above first."),
    )
