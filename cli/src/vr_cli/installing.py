"""Commands that install and remove distributions in the environment of this program."""

from __future__ import annotations

import shutil
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from vr_kernel import Code, VrError

PRODUCT = "video-research"


@dataclass(frozen=True, slots=True)
class Environment:
    """A Python environment: its folder, that of its standard library, and its program."""

    prefix: Path
    library: Path
    python: str
    virtual: bool

    @classmethod
    def own(cls) -> Environment:
        """The environment that this program runs in."""
        library = Path(sysconfig.get_path("stdlib"))
        return cls(Path(sys.prefix), library, sys.executable, sys.prefix != sys.base_prefix)

    def install(self, requirement: str) -> list[str]:
        """The command that installs a distribution here.

        Raises:
            VrError: NOT_ALLOWED: the environment belongs to another program, which the hint names
                with its own command; UNSUPPORTED when there is neither pip nor uv.
        """
        if requirement.startswith("-"):
            raise _no_name(requirement)
        self._require_ours(requirement, "install")
        return [*self._program(), "install", *self._target(), requirement]

    def uninstall(self, distribution: str) -> list[str]:
        """The command that removes a distribution from here; it raises what `install` raises."""
        self._require_ours(distribution, "uninstall")
        unasked = ["--yes"] if self._has_pip() else []
        return [*self._program(), "uninstall", *unasked, *self._target(), distribution]

    def _require_ours(self, name: str, verb: str) -> None:
        if (self.prefix / "uv-receipt.toml").is_file():
            added = f" --with {name}" if verb == "install" else ""
            raise _refused("uv tool", f"uv tool install {PRODUCT}{added}")
        if (self.prefix / "pipx_metadata.json").is_file():
            inject = "inject" if verb == "install" else "uninject"
            raise _refused("pipx", f"pipx {inject} {self.prefix.name} {name}")
        if {"archive-v0", "environments-v2"} & set(self.prefix.parts):
            added = f" --with {name}" if verb == "install" else ""
            raise _refused("uvx", f"uvx{added} {PRODUCT}")
        if not self.virtual and (self.library / "EXTERNALLY-MANAGED").is_file():
            own = "~/.venvs/vr"
            raise _refused(
                "the operating system",
                f"python3 -m venv {own} && {own}/bin/pip install '{PRODUCT}[local]' {name}",
            )

    def _has_pip(self) -> bool:
        return find_spec("pip") is not None

    def _program(self) -> list[str]:
        if self._has_pip():
            return [self.python, "-m", "pip"]
        if find_spec("uv") is not None:
            return [self.python, "-m", "uv", "pip"]
        found = shutil.which("uv")
        if found is None:
            raise VrError(
                "Neither pip nor uv is there to change this environment.",
                Code.UNSUPPORTED,
                hint=f"Install pip first: {self.python} -m ensurepip",
            )
        return [found, "pip"]

    def _target(self) -> list[str]:
        return [] if self._has_pip() else ["--python", self.python]


def distribution_of(name: str) -> str:
    """The requirement for pip that a person means by the name of a plugin.

    A bare name such as `weather` means `vr-plugin-weather`, or `vr-weather` where an installed
    distribution requires that, as video-research does for its own; anything else is taken as it is.

    Raises:
        VrError: INVALID_INPUT for anything but a name, requirement, URL or folder, and for a name
            that is also that of a folder here; NOT_FOUND for a path that does not exist.
    """
    if "://" in name:
        return name
    if "/" in name or "\\" in name or name.startswith("."):
        if Path(name).exists():
            return name
        message = f"No such folder: {name}."
        raise VrError(message, Code.NOT_FOUND, hint="Check the spelling, or give another path.")
    if name and Path(name).is_file():
        return name
    full = _full_name(name)
    if name and Path(name).is_dir():  # pip would take the name for a distribution's
        raise VrError(
            f"A folder {name} lies here, and a plugin may have that name.",
            Code.INVALID_INPUT,
            hint=f"For the folder give ./{name}, for the plugin {full}.",
        )
    return full


def _full_name(name: str) -> str:
    try:
        wanted = Requirement(name)
    except InvalidRequirement:
        raise _no_name(name) from None
    short = canonicalize_name(wanted.name)
    if short.startswith("vr-"):
        return name
    full = f"vr-{short}" if f"vr-{short}" in set(required_distributions()) else f"vr-plugin-{short}"
    return full + name[len(wanted.name) :]


def required_distributions() -> Iterable[str]:
    """The names of all distributions that installed ones require, also with extras."""
    for distribution in distributions():
        for text in distribution.requires or ():
            try:
                yield canonicalize_name(Requirement(text).name)
            except InvalidRequirement:
                continue


def _no_name(name: str) -> VrError:
    return VrError(
        f"{name!r} names no distribution.",
        Code.INVALID_INPUT,
        hint="Give the name of a plugin, a requirement, a folder or an address.",
    )


def _refused(owner: str, command: str) -> VrError:
    return VrError(
        f"This environment belongs to {owner}, so it is not changed from here.",
        Code.NOT_ALLOWED,
        category="ENVIRONMENT_FOREIGN",
        hint=f"Run: {command}",
    )
