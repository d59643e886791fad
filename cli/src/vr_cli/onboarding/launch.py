"""Finds the command with which a client starts the server, one that is not temporary."""

from __future__ import annotations

import re
import shutil
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from vr_cli.onboarding.clients import Client

SCRIPTS = ("vr", "video-research")
DISTRIBUTION = "video-research"
KEPT_VARIABLES = ("VR_CONFIG_DIR", "VR_STATE_DIR", "VR_CACHE_DIR")
"""Clients start servers with few variables; without these the server would look elsewhere."""
OLD_FORM = ["-P", "-m", "vr_kernel", "serve"]
"""Arguments that `vr init` wrote when the command line was part of the kernel."""
_UV_CACHE = re.compile(r"(archive|environments|builds)-v\d+")


@dataclass(frozen=True, slots=True)
class Launch:
    """A command with its arguments, and the variables it needs."""

    command: str
    arguments: tuple[str, ...]
    variables: Mapping[str, str]


def find_launch(program: str, python: str, prefix: str, environ: Mapping[str, str]) -> Launch:
    """The command that starts the server of the program that is running.

    Args:
        program: `sys.argv[0]`.
        python: `sys.executable`.
        prefix: `sys.prefix`, the environment's folder.
        environ: the environment.
    """
    variables = {
        name: str(Path(environ[name]).expanduser().absolute())
        for name in KEPT_VARIABLES
        if environ.get(name)
    }
    if is_ephemeral(PurePath(prefix)):
        return Launch(_uvx(environ), (DISTRIBUTION, "serve"), variables)
    script = _script(program)
    if script:
        return Launch(script, ("serve",), variables)
    return Launch(python, ("-P", "-m", "vr_cli", "serve"), variables)


def is_ephemeral(prefix: PurePath) -> bool:
    """True when the environment lies in uv's cache, where uvx makes temporary ones."""
    return any(_UV_CACHE.fullmatch(part) for part in prefix.parts)


def entry_of(client: Client, launch: Launch, existing: Any = None) -> dict[str, Any]:
    """The client's entry; the user's additions to an existing entry are kept."""
    present = existing if isinstance(existing, dict) and "command" in existing else {}
    kept = _in_new_form(present, launch)
    entry = {**client.fixed, "command": launch.command, "args": list(launch.arguments)}
    if _extends(kept, entry):
        entry["args"] = kept["args"]
    given = kept.get("env")
    variables = {**(given if isinstance(given, dict) else {}), **launch.variables}
    if variables:
        entry["env"] = variables
    return {**entry, **client.defaults, **{k: v for k, v in kept.items() if k not in entry}}


def _in_new_form(kept: Mapping[str, Any], launch: Launch) -> Mapping[str, Any]:
    """An entry of the old form as it is written today, with the user's further arguments."""
    theirs = kept.get("args")
    if not isinstance(theirs, list) or theirs[: len(OLD_FORM)] != OLD_FORM:
        return kept
    arguments = [*launch.arguments, *theirs[len(OLD_FORM) :]]
    return {**kept, "command": launch.command, "args": arguments}


def _extends(kept: Mapping[str, Any], entry: Mapping[str, Any]) -> bool:
    """True when existing arguments are ours, with more of the user's own.

    Ours may follow arguments of the same command, such as `--from` of uvx.
    """
    theirs, ours = kept.get("args"), entry["args"]
    if not isinstance(theirs, list):
        return False
    begins = range(len(theirs) if kept["command"] == entry["command"] else 1)
    return any(theirs[begin : begin + len(ours)] == ours for begin in begins)


def _uvx(environ: Mapping[str, str]) -> str:
    beside = Path(environ["UV"]).with_name("uvx") if environ.get("UV") else None
    search = [str(beside)] if beside else []
    return next(filter(None, map(shutil.which, [*search, "uvx"])), "uvx")


def _script(program: str) -> str | None:
    own = [program] if Path(program).stem in SCRIPTS else []
    beside = [str(Path(sysconfig.get_path("scripts")) / name) for name in SCRIPTS]
    found = next(filter(None, map(shutil.which, [*own, *beside])), None)
    return str(Path(found).absolute()) if found else None
