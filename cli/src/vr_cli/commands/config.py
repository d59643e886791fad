"""`vr config`: settings with their origin, and trust in a project's file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel
from vr_kernel import Code, Config, Section, VrError, did_you_mean, sharing
from vr_kernel.config import Groups, described, trust_folder

from vr_cli.opening import open_kernel

DEFAULT = "default"
"""Origin of a setting that is set nowhere."""


@click.group()
def config() -> None:
    """Show settings; trust a project's."""


@config.command("show")
@click.argument("sections", nargs=-1, metavar="[SECTION]...")
@click.option("--all", "whole", is_flag=True, help="Also show settings that many things share.")
@click.option("--origin", is_flag=True, help="Say where each value was set.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def show(
    config: Config, sections: Sequence[str], *, whole: bool, origin: bool, as_json: bool
) -> None:
    """Show the settings, of all sections or of some; secrets are only said to be set."""
    models = _chosen(_models(config), sections)
    if as_json:
        shown = {name: _described(config, name, model) for name, model in models.items()}
        click.echo(json.dumps(shown, indent=2))
        return
    paths = config.paths
    click.echo(f"# configuration: {paths.config}\n# state: {paths.state}\n# cache: {paths.cache}")
    for name, model in models.items():
        settings = _described(config, name, model)
        folds = not (whole or sections)
        groups = model.groups if folds and isinstance(model, Section) else None
        click.echo(
            "\n".join([f"\n[{name}]", *_lines(name, model, settings, groups, origin=origin)])
        )
    if not sections:
        _show_workspaces(config)


def _show_workspaces(config: Config) -> None:
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


def _lines(
    section: str,
    model: BaseModel,
    settings: Mapping[str, Mapping[str, Any]],
    groups: Groups | None,
    *,
    origin: bool,
) -> Iterator[str]:
    """The lines of a section; settings that all `groups` have are shown once where none is set."""
    shared = {} if groups is None else groups.shared(type(model))
    folded: dict[str, str] = {}
    for key, setting in settings.items():
        value = json.dumps(setting["value"])
        if key in shared and setting["origin"] == DEFAULT:
            folded.setdefault(shared[key], value)
        else:
            where = f"  # {setting['origin']}" if origin else ""
            yield f"{key} = {value}{where}"
    if groups is not None:
        yield f"# For each {groups.kind}; `vr config show {section}` shows every one:"
        yield from (f"# <{groups.kind}>_{name} = {value}" for name, value in folded.items())
        yield f"# <{groups.kind}>: {', '.join(groups.names)}"


def _models(config: Config) -> dict[str, BaseModel]:
    """The settings of all sections."""
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
    return models


def _chosen(models: Mapping[str, BaseModel], names: Sequence[str]) -> Mapping[str, BaseModel]:
    """The sections of these names, or all.

    Raises:
        VrError: INVALID_INPUT, naming the nearest.
    """
    for name in names:
        if name not in models:
            near = did_you_mean(name, list(models))
            what = f"There is no section {name!r}."
            hint = f"{near}Sections: {', '.join(models)}."
            raise VrError(what, Code.INVALID_INPUT, hint=hint)
    return {name: models[name] for name in names or models}


def _described(config: Config, name: str, model: BaseModel) -> dict[str, dict[str, Any]]:
    found = described(config, name, model)
    if name == "kernel.serve":
        found["shared_workspaces"]["tokens"] = sharing(config.serve)
    return found
