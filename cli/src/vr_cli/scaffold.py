"""Makes the project of a new plugin: `vr plugin new`."""

from __future__ import annotations

import keyword
import os
import re
import shutil
import uuid
from collections.abc import Collection, Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from string import Template

from vr_kernel import VERSION, Code, VrError
from vr_kernel.loading import RESERVED_DOMAINS, kernel_range

NAME_PATTERN = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
NAME_LENGTHS = range(2, 41)
SECTIONS = frozenset({"kernel", "models", "store"})
"""Names of sections of the configuration."""
SUFFIX = ".tmpl"
PACKAGE_FOLDER = "package"
"""Stands in a path of the template for the name of the project's package."""


class _Blanks(Template):
    """Text in which `@@{name}` stands for a value, as workflows are full of braces and dollars."""

    delimiter = "@@"


def check_name(
    name: str, installed: Collection[str] = (), distributions: Collection[str] = ()
) -> None:
    """Refuse a name that no plugin can have here.

    Args:
        name: of the plugin.
        installed: names of installed plugins.
        distributions: those that installed ones require; a plugin among them has its name.

    Raises:
        VrError: INVALID_INPUT, saying what is wrong with it.
    """
    if not _fits(name) or name.startswith("vr-"):
        raise _refused(f"{name!r} is no name of a plugin.", _proposal(name))
    domain = domain_of(name)
    if keyword.iskeyword(domain):
        raise _refused(f"{name!r} is a word of Python.", "Choose another name.")
    if not RESERVED_DOMAINS.isdisjoint({name, domain}):
        raise _refused(f"{name!r} is a command of vr itself.", "Choose another name.")
    if not SECTIONS.isdisjoint({name, domain}):
        raise _refused(f"The name {name!r} is taken by the kernel.", "Choose another name.")
    for owner in (f"vr-plugin-{name}", f"vr-{name}"):
        if owner in distributions:
            raise _refused(f"The name {name!r} is taken by {owner}.", "Choose another name.")
    if name in installed:
        raise _refused(
            f"A plugin named {name!r} is installed.", "Choose another name, or uninstall it."
        )


def domain_of(name: str) -> str:
    """The first word of the plugin's tools and commands: its name in one word."""
    return name.replace("-", "")


def make_project(name: str, parent: Path) -> Path:
    """Write the project of a new plugin into a new folder of `parent`, whole or not at all.

    Returns:
        The folder, `parent/vr-plugin-NAME`.

    Raises:
        VrError: INVALID_INPUT when the folder exists or `parent` does not, NOT_ALLOWED when it
            cannot be written.
    """
    project = parent / f"vr-plugin-{name}"
    if os.path.lexists(project):
        raise _exists(project)
    if not parent.is_dir():
        raise VrError(
            f"There is no folder {parent}.", Code.INVALID_INPUT, hint="Make it, or name another."
        )
    staged = parent / f".{project.name}-{uuid.uuid4().hex[:8]}"
    try:
        _write(staged, dict(project_files(name)))
        staged.rename(project)
    except OSError as error:
        if os.path.lexists(project):
            raise _exists(project) from error
        raise VrError(
            f"{project} cannot be written: {error.strerror}.",
            Code.NOT_ALLOWED,
            hint="Name a folder that you may write to: --folder DIR.",
        ) from error
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return project


def project_files(name: str) -> Iterator[tuple[PurePosixPath, str]]:
    """Every file of the project, by its path in it, with its text."""
    blanks = _values(name)
    for path, source in _sources(files("vr_cli") / "template", PurePosixPath()):
        parts = [blanks["package"] if part == PACKAGE_FOLDER else part for part in path.parts]
        text = _Blanks(source.read_text("utf-8")).substitute(blanks)
        yield PurePosixPath(*parts).with_name(path.name.removesuffix(SUFFIX)), text


def _values(name: str) -> Mapping[str, str]:
    return {
        "name": name,
        "distribution": f"vr-plugin-{name}",
        "package": f"vr_plugin_{name.replace('-', '_')}",
        "domain": domain_of(name),
        "variable": f"VR_{name.replace('-', '_').upper()}",
        "kernel_range": kernel_range(VERSION),
    }


def _sources(
    folder: Traversable, path: PurePosixPath
) -> Iterator[tuple[PurePosixPath, Traversable]]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            yield from _sources(item, path / item.name)
        elif item.name.endswith(SUFFIX):
            yield path / item.name, item


def _write(folder: Path, texts: Mapping[PurePosixPath, str]) -> None:
    for path, text in texts.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8", newline="\n")


def _proposal(name: str) -> str:
    words = re.findall(r"[a-z0-9]+", re.sub(r"^vr[-_ ](plugin[-_ ])?", "", name.lower()))
    proposal = "-".join(words).lstrip("-0123456789")[: NAME_LENGTHS.stop - 1].rstrip("-")
    rule = "2 to 40 of a-z, 0-9 and single hyphens, beginning with a letter."
    return f"Try {proposal!r}: {rule}" if _fits(proposal) else f"Use {rule}"


def _fits(name: str) -> bool:
    return len(name) in NAME_LENGTHS and NAME_PATTERN.fullmatch(name) is not None


def _refused(message: str, hint: str) -> VrError:
    return VrError(message, Code.INVALID_INPUT, category="NAME_REFUSED", hint=hint)


def _exists(project: Path) -> VrError:
    return VrError(
        f"{project} exists already.",
        Code.INVALID_INPUT,
        category="PROJECT_EXISTS",
        hint="Nothing was changed. Choose another name, or another folder with --folder DIR.",
    )
