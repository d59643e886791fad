"""Reads a project's pyproject.toml: the plugins in it, and the folders of their modules."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pyproject_metadata import ConfigurationError, License, StandardMetadata
from vr_kernel import Code, Diagnosis, VrError
from vr_kernel.loading import GROUP

from vr_cli.inspection.findings import Finding
from vr_cli.inspection.subject import Metadata, Subject

FILE = "pyproject.toml"
LICENCE_LIMIT = 40
_TARGET = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(:[A-Za-z_][\w.]*)?")
_PROJECT, _ENTRY_POINT = "project", "entry point"


class Project:
    """A project folder.

    Faults of its file are in `findings`; a fault in `[project]` leaves `metadata` None.
    """

    def __init__(self, folder: Path) -> None:
        """Read the file.

        Raises:
            VrError: INVALID_INPUT when the folder has none, or it cannot be read.
        """
        self.folder = folder
        self.findings: list[Finding] = []
        table = self._read(folder / FILE)
        project = table.get("project")
        self._project: Mapping[str, Any] = project if isinstance(project, dict) else {}
        self.metadata = self._metadata(table) if table else None
        self.subjects = list(self._subjects()) if self._project else []

    @property
    def name(self) -> str:
        """The name of the distribution, empty when there is none."""
        return str(self._project.get("name", ""))

    def _read(self, file: Path) -> dict[str, Any]:
        try:
            return tomllib.loads(file.read_text("utf-8"))
        except FileNotFoundError:
            raise VrError(
                f"There is no {FILE} in {self.folder}.",
                Code.INVALID_INPUT,
                hint="Give the folder of a project; `vr plugin new NAME` makes one.",
            ) from None
        except OSError as failure:
            raise VrError(
                f"{file} cannot be read: {failure.strerror}.", Code.INVALID_INPUT, hint="Check it."
            ) from failure
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as failure:
            self._fault(_PROJECT, f"{FILE} is not valid TOML: {failure}.", "Correct it.")
            return {}

    def _metadata(self, table: Mapping[str, Any]) -> Metadata | None:
        try:
            told = StandardMetadata.from_pyproject(
                table, self.folder, allow_extra_keys=True, all_errors=True
            )
        except ExceptionGroup as failures:
            for failure in _leaves(failures):
                self._fault(_PROJECT, f"{FILE}: {failure}.".replace("..", "."), "Correct it.")
            return None
        except ConfigurationError as failure:
            self._fault(_PROJECT, f"{FILE}: {failure}.", "Correct it.")
            return None
        return Metadata(
            name=told.name,
            version=str(told.version or ""),
            summary=told.description or "",
            readme=told.readme is not None,
            licence=_licence(told),
            requires_python=str(told.requires_python or ""),
            requires=tuple(map(str, told.dependencies)),
            dynamic=frozenset(told.dynamic),
        )

    def _subjects(self) -> Iterator[Subject]:
        groups = self._project.get("entry-points", {})
        entries = groups.get(GROUP, {}) if isinstance(groups, dict) else {}
        dynamic = self.metadata is not None and "entry-points" in self.metadata.dynamic
        if not isinstance(entries, dict) or not entries:
            if not dynamic:
                fix = f'Add [project.entry-points."{GROUP}"] with NAME = "package.module".'
                self._fault(_ENTRY_POINT, f"{FILE} names no plugin.", fix)
            return
        metadata = self.metadata or Metadata(self.name)
        for name, target in entries.items():
            module = str(target).partition(":")[0]
            subject = Subject(name, metadata, module, str(target), self._source(module))
            if self._is_found(subject):
                yield subject

    def _is_found(self, subject: Subject) -> bool:
        if not _TARGET.fullmatch(subject.target):
            problem = f"{subject.name} = {subject.target!r} names no module."
        elif subject.source is None:
            problem = f"{subject.module} lies neither in src nor beside {FILE}."
        else:
            return True
        fix = f'Write {subject.name} = "package.module" as it stands in the folder src.'
        self._fault(_ENTRY_POINT, problem, fix)
        return False

    def _source(self, module: str) -> Path | None:
        package = module.partition(".")[0]
        for folder in (self.folder / "src", self.folder, self.folder / "lib"):
            if (folder / package).is_dir() or (folder / f"{package}.py").is_file():
                return folder.resolve()
        return None

    def _fault(self, check: str, what: str, fix: str) -> None:
        self.findings.append((check, Diagnosis.fault(what, fix)))


def _licence(told: StandardMetadata) -> str:
    if isinstance(told.license, License):  # the older form of `license`: a file, or the whole text
        return told.license.file.name if told.license.file else told.license.text[:LICENCE_LIMIT]
    classified = [c for c in told.classifiers if c.startswith("License ::")]
    return told.license or "".join(classified[:1])


def _leaves(failures: ExceptionGroup[Exception]) -> Iterator[Exception]:
    for failure in failures.exceptions:
        if isinstance(failure, ExceptionGroup):
            yield from _leaves(failure)
        else:
            yield failure
