"""Reads a project's pyproject.toml: the plugins in it, and where their modules lie."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vr_kernel import Code, VrError
from vr_kernel.loading import GROUP

from vr_cli.inspection.findings import Finding, error
from vr_cli.inspection.subject import Metadata, Subject

FILE = "pyproject.toml"
LICENCE_LIMIT = 40
_TARGET = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(:[A-Za-z_][\w.]*)?")
_ENTRY_POINT = "entry point"


class Project:
    """A project folder. What is wrong with its file stands in `findings`."""

    def __init__(self, folder: Path) -> None:
        """Read the file.

        Raises:
            VrError: INVALID_INPUT when the folder has none, or it cannot be read.
        """
        self.folder = folder
        self.findings: list[Finding] = []
        table = self._read(folder / FILE)
        project = table.get("project")
        if table and not isinstance(project, dict):
            self.findings.append(
                error(
                    "project", f"{FILE} has no table [project].", "Add it, with name and version."
                )
            )
        self._project: Mapping[str, Any] = project if isinstance(project, dict) else {}
        self.metadata = self._metadata()
        self.subjects = list(self._subjects())

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
            self.findings.append(
                error("project", f"{FILE} is not valid TOML: {failure}.", "Correct it.")
            )
            return {}

    def _metadata(self) -> Metadata:
        project = self._project
        return Metadata(
            name=_text(project, "name"),
            version=_text(project, "version"),
            summary=_text(project, "description"),
            readme=self._has_readme(),
            licence=_licence(project),
            requires_python=_text(project, "requires-python"),
            requires=_texts(project, "dependencies"),
            dynamic=frozenset(_texts(project, "dynamic")),
        )

    def _has_readme(self) -> bool:
        readme = self._project.get("readme", "")
        if isinstance(readme, dict) and "file" not in readme:
            return bool(readme.get("text"))
        name = readme.get("file") if isinstance(readme, dict) else readme
        if not isinstance(name, str) or not name:
            return False
        if not (self.folder / name).is_file():
            self.findings.append(
                error("project", f"The readme {name} is not there.", "Write it: no build without.")
            )
        return True

    def _subjects(self) -> Iterator[Subject]:
        groups = self._project.get("entry-points", {})
        entries = groups.get(GROUP, {}) if isinstance(groups, dict) else {}
        if not isinstance(entries, dict) or not entries:
            if self._project and "entry-points" not in self.metadata.dynamic:
                self.findings.append(
                    error(
                        _ENTRY_POINT,
                        f"{FILE} names no plugin.",
                        f'Add [project.entry-points."{GROUP}"] with NAME = "package.module".',
                    )
                )
            return
        for name, target in entries.items():
            subject = Subject(name, self.metadata, str(target), self._source(str(target)))
            if self._is_found(subject):
                yield subject

    def _is_found(self, subject: Subject) -> bool:
        if not _TARGET.fullmatch(subject.target):
            problem = f"{subject.name} = {subject.target!r} names no module."
        elif subject.source is None:
            problem = f"{subject.target.partition(':')[0]} lies neither in src nor beside {FILE}."
        else:
            return True
        fix = f'Write {subject.name} = "package.module" as it stands in the folder src.'
        self.findings.append(error(_ENTRY_POINT, problem, fix))
        return False

    def _source(self, target: str) -> Path | None:
        package = target.partition(":")[0].partition(".")[0]
        for folder in (self.folder / "src", self.folder, self.folder / "lib"):
            if (folder / package).is_dir() or (folder / f"{package}.py").is_file():
                return folder.resolve()
        return None


def _licence(project: Mapping[str, Any]) -> str:
    told = project.get("license")
    if isinstance(told, dict):  # the older form: a file, or the whole text
        told = told.get("file") or str(told.get("text", ""))[:LICENCE_LIMIT]
    classified = [c for c in _texts(project, "classifiers") if c.startswith("License ::")]
    return told if isinstance(told, str) and told else "".join(classified[:1])


def _text(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key, "")
    return value if isinstance(value, str) else ""


def _texts(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key, ())
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else ()
