"""Samples for tests of migrations: installations, and their commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from vr_kernel import Config, load_config
from vr_plugin_knowledge.transfer.migration import migrate


def config_in(folder: Path, **variables: str) -> Config:
    """Settings of an installation in a folder; a command of it finds no other plugins."""
    folders = {f"VR_{name}_DIR": str(folder / name.lower()) for name in ("STATE", "CACHE")}
    environ = {"HOME": str(folder), "VR_CONFIG_DIR": str(folder), "VR_PLUGINS": "knowledge"}
    return load_config({**environ, **folders, **variables}, working_folder=folder)


def invoke(config: Config, command: Any, *arguments: object) -> Result:
    """Run a command of that installation; what it raises is raised."""
    return CliRunner().invoke(command, [*map(str, arguments)], obj=config, catch_exceptions=False)


def report_of(config: Config, *arguments: object, code: int = 0) -> dict[str, Any]:
    """The output of `vr knowledge migrate --json`, which ends with `code`."""
    done = invoke(config, migrate, *arguments, "--json")
    assert done.exit_code == code, done.output
    report: dict[str, Any] = json.loads(done.stdout)
    return report
