"""Finds the command with which a client starts the server, one that is not temporary."""

from __future__ import annotations

import re
import shutil
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath, PureWindowsPath
from typing import Any

from vr_cli.onboarding.clients import Client

SCRIPTS = ("vr", "video-research")
DISTRIBUTION = "video-research"
KEPT_VARIABLES = ("VR_CONFIG_DIR", "VR_STATE_DIR", "VR_CACHE_DIR")
"""Clients start servers with few variables; without these the server would look elsewhere."""
MODULES = ("vr_cli", "vr_kernel")
"""Modules that Python runs as `vr`: today's, and the one of which older entries were written."""
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
    kept = existing if isinstance(existing, dict) and "command" in existing else {}
    arguments = _arguments(kept, launch)
    entry = {**client.fixed, "command": launch.command, "args": arguments}
    given = kept.get("env")
    variables = {**(given if isinstance(given, dict) else {}), **launch.variables}
    if variables:
        entry["env"] = variables
    return {**entry, **client.defaults, **{k: v for k, v in kept.items() if k not in entry}}


def _arguments(kept: Mapping[str, Any], launch: Launch) -> list[Any]:
    """Ours, with the user's own from an entry that starts `vr` in this or in another way."""
    if _extends(kept, launch):
        return list(kept["args"])
    theirs = _arguments_of_vr(kept.get("command"), kept.get("args"))
    if not theirs:
        return list(launch.arguments)
    if _is_same_program(kept, launch) and "-m" not in launch.arguments:
        return list(kept["args"])
    at = theirs.index("serve")
    return [*launch.arguments[:-1], *theirs[:at], *launch.arguments[-1:], *theirs[at + 1 :]]


def _arguments_of_vr(command: Any, arguments: Any) -> list[Any]:
    """The arguments that `vr` itself gets from an entry; empty when the entry does not start it."""
    if not isinstance(arguments, list) or "serve" not in arguments:
        return []
    program, at = _program(command), arguments.index("serve")
    if program in SCRIPTS:
        return arguments
    for place in reversed(range(at)):
        is_script = program == "uvx" and arguments[place] in SCRIPTS
        if is_script or (arguments[place] in MODULES and "-m" in arguments[:place][-1:]):
            return arguments[place + 1 :]
    return []


def _is_same_program(kept: Mapping[str, Any], launch: Launch) -> bool:
    return _program(kept["command"]) == _program(launch.command)


def _program(command: Any) -> str:
    """The name of a program without its folder and without `.exe`."""
    return PureWindowsPath(str(command)).stem


def _extends(kept: Mapping[str, Any], launch: Launch) -> bool:
    """True when existing arguments are ours, with more of the user's own.

    Ours may follow arguments of the same program, such as `--from` of uvx.
    """
    theirs, ours = kept.get("args"), list(launch.arguments)
    if not isinstance(theirs, list):
        return False
    begins = range(len(theirs) if _is_same_program(kept, launch) else 1)
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
