"""`vr plugin new`: makes the project of a new plugin, whose tests pass from the start."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("new", short_help="Make the project of a new plugin.")
@click.argument("name")
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path(),
    help="Where to make it; the current folder by default.",
)
def new(name: str, folder: Path) -> None:
    """Make the project of a new plugin, vr-plugin-NAME, with a tool, a setting and tests."""
    from vr_kernel.loading import discover

    from vr_cli.installing import required_distributions
    from vr_cli.scaffold import check_name, domain_of, make_project

    check_name(name, {candidate.name for candidate in discover()}, set(required_distributions()))
    project = make_project(name, folder.expanduser())
    click.echo(f"Made {project}. Its tool: vr {domain_of(name)} count TEXT. Next:\n")
    click.echo(f"  cd {_quoted(project)}")
    click.echo('  pip install -e ".[dev]"')
    click.echo("  pytest && vr plugin check .")


def _quoted(path: Path) -> str:
    text = str(path)
    return f'"{text}"' if " " in text else text
