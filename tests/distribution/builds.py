"""Builds of the distributions, and the environments that they are installed in."""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesParser
from pathlib import Path
from zipfile import ZipFile

from installation import REPOSITORY

EXTRAS = {"video_research": "[all]"}


@dataclass(frozen=True)
class Wheel:
    """A built wheel: a zip file with metadata."""

    path: Path

    @property
    def name(self) -> str:
        """The distribution's name, in the form that file names have."""
        return self.path.name.split("-")[0]

    def contents(self) -> dict[str, int]:
        """Path and checksum of each file; RECORD, which repeats them, is left out."""
        with ZipFile(self.path) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
        return {i.filename: i.CRC for i in infos if not i.filename.endswith("/RECORD")}

    def text(self, suffix: str) -> str:
        """The text of the one file whose path ends so."""
        with ZipFile(self.path) as archive:
            (found,) = [name for name in archive.namelist() if name.endswith(suffix)]
            return archive.read(found).decode()

    def entry_points(self) -> dict[str, dict[str, str]]:
        """Its entry points, by group."""
        parser = configparser.ConfigParser(delimiters=("=",))
        parser.optionxform = str  # names keep their capital letters
        name = ".dist-info/entry_points.txt"
        if any(path.endswith(name) for path in self.contents()):
            parser.read_string(self.text(name))
        return {section: dict(parser[section]) for section in parser.sections()}

    def metadata(self) -> Message:
        """Its core metadata, and the readme as payload."""
        return BytesParser().parsebytes(self.text(".dist-info/METADATA").encode())


@dataclass(frozen=True)
class Build:
    """Every distribution, built as a release is, and its wheels built from the tree directly."""

    folder: Path

    @property
    def tree(self) -> Path:
        """The repository without whatever version control ignores."""
        return self.folder / "tree"

    @property
    def wheels(self) -> list[Wheel]:
        """Wheels that were built from the sdists."""
        return [Wheel(path) for path in sorted((self.folder / "dist").glob("*.whl"))]

    @property
    def wheels_from_tree(self) -> list[Wheel]:
        """The same wheels, built without sdists."""
        return [Wheel(path) for path in sorted((self.folder / "from-tree").glob("*.whl"))]

    def sdist(self, name: str) -> set[str]:
        """Paths of the files in a distribution's sdist, below its top folder."""
        (path,) = (self.folder / "dist").glob(f"{name}-*.tar.gz")
        with tarfile.open(path) as archive:
            names = [member.name for member in archive.getmembers() if member.isfile()]
        return {name.partition("/")[2] for name in names}


def build(folder: Path) -> None:
    """Copy the tree into `folder` and build everything there."""
    built = Build(folder)
    copy_tree(built.tree)
    dist, from_tree = str(folder / "dist"), str(folder / "from-tree")
    run(["uv", "build", "--quiet", "--all-packages", "-o", dist], built.tree)
    run(["uv", "build", "--quiet", "--all-packages", "--wheel", "-o", from_tree], built.tree)
    for example in sorted(path.parent for path in built.tree.glob("examples/*/pyproject.toml")):
        run(["uv", "build", "--quiet", str(example), "-o", dist], built.tree)
        run(["uv", "build", "--quiet", "--wheel", str(example), "-o", from_tree], built.tree)


def copy_tree(target: Path) -> None:
    """Copy what version control has, or would take, to a new folder."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in filter(None, run(command, REPOSITORY).split("\0")):
        if (REPOSITORY / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(REPOSITORY / name, target / name)


def build_wheels(folder: Path, *sources: Path) -> None:
    """Build the wheels of these distributions, or of all, from the tree."""
    members = ["kernel", "server", "cli", "testing", "pages", "plugins/*", "examples/vr-*"]
    everything = [REPOSITORY, *(path for name in members for path in REPOSITORY.glob(name))]
    for source in sources or everything:
        if (source / "pyproject.toml").is_file():
            run(["uv", "build", "--quiet", "--wheel", "-o", str(folder), str(source)], folder)


def constrain(file: Path, wheels: Sequence[Wheel]) -> Path:
    """Write the file of constraints that makes these wheels the only versions of theirs."""
    lines = (f"{wheel.name} @ {wheel.path.as_uri()}\n" for wheel in wheels)
    file.write_text("".join(lines), encoding="utf-8")
    return file


def install(
    folder: Path, *requirements: str, versions: Path | None = None, group: str | None = None
) -> None:
    """Make a virtual environment that holds these and what they require.

    Args:
        folder: the environment.
        requirements: as pip takes them.
        versions: a file of constraints beside that of the repository.
        group: a dependency group to install as well, as `pyproject.toml:name`.
    """
    run(["uv", "venv", "--quiet", "--python", sys.executable, str(folder)], folder.parent)
    command = ["uv", "pip", "install", "--quiet", "--python", str(program(folder, "python"))]
    for file in filter(None, (versions, REPOSITORY / "constraints.txt")):
        command += ["-c", str(file)]
    run([*command, *(["--group", group] if group else []), *requirements], folder.parent)


def requirements(wheels: Sequence[Wheel]) -> list[str]:
    """Requirements that install exactly these wheels, with all that is optional."""
    return [
        f"{wheel.name} {EXTRAS.get(wheel.name, '')} @ {wheel.path.as_uri()}" for wheel in wheels
    ]


def program(environment: Path, name: str) -> Path:
    """A program in a virtual environment."""
    return environment / ("Scripts" if os.name == "nt" else "bin") / name


def search_path() -> str:
    """Folders in which programs are looked for: beside this Python first."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def run(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    *,
    stdin: int = subprocess.DEVNULL,
    status: int = 0,
) -> str:
    """Run a program and return its output; another exit status than the expected fails the test."""
    kept = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    kept["PATH"] = search_path()
    done = subprocess.run(
        [shutil.which(command[0], path=kept["PATH"]) or command[0], *command[1:]],
        cwd=folder,
        env=kept if environment is None else environment,
        stdin=stdin,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == status, f"{command}\n{done.stdout[-6000:]}\n{done.stderr[-6000:]}"
    return done.stdout or done.stderr


def make_once(folder: Path, make: Callable[[Path], None]) -> Path:
    """The folder, filled by the first of all test processes that wants it."""
    from fcntl import LOCK_EX, flock

    folder.parent.mkdir(parents=True, exist_ok=True)
    made = folder.with_suffix(".made")
    with folder.with_suffix(".lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            made.touch()
    return folder
