"""`vr config`: settings with their origin, and trust in a project's file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel
from vr_kernel import Config, sharing
from vr_kernel.config import described, trust_folder

from vr_cli.opening import open_kernel


@click.group()
def config() -> None:
    """Show settings; trust a project's."""


@config.command("show")
@click.option("--origin", is_flag=True, help="Say where each value was set.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def show(config: Config, *, origin: bool, as_json: bool) -> None:
    """Show every setting; secrets are only said to be set."""
    sections = _sections(config)
    if as_json:
        click.echo(json.dumps(sections, indent=2))
        return
    paths = config.paths
    click.echo(f"# configuration: {paths.config}\n# state: {paths.state}\n# cache: {paths.cache}")
    for name, settings in sections.items():
        click.echo(f"\n[{name}]")
        for key, setting in settings.items():
            where = f"  # {setting['origin']}" if origin else ""
            click.echo(f"{key} = {json.dumps(setting['value'])}{where}")
    for workspace, names in sharing(config.serve).items():
        whose = " (the owner's own)" if workspace == config.store.workspace else ""
        who = ", ".join(names) or "no token has it"
        click.echo(f"\n# Shared workspace {workspace}{whose}: {who}")


@config.command("trust", short_help="Trust the vr.toml of a folder.")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.pass_obj
def trust(config: Config, folder: Path) -> None:
    """Let the vr.toml of FOLDER change settings of commands that run there."""
    file = trust_folder(folder, config.paths.config)
    later = "" if file.is_file() else " once it is there; there is none yet"
    click.echo(f"{file} is trusted{later}.")


def _sections(config: Config) -> dict[str, dict[str, dict[str, Any]]]:
    plugins = open_kernel(config).settings  # first: a plugin's variable may choose a store
    models: dict[str, BaseModel] = {
        "kernel": config.kernel,
        "kernel.http": config.http,
        "kernel.serve": config.serve,
        "models": config.models,
        "store": config.store,
    }
    for name, settings in plugins.items():
        models[f"plugins.{name}"] = settings
    sections = {name: described(config, name, model) for name, model in models.items()}
    sections["kernel.serve"]["shared_workspaces"]["tokens"] = sharing(config.serve)
    return sections
