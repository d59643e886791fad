"""The configuration of this run, with the settings given by `--set`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vr_kernel import Config


def config_of(context: click.Context) -> Config:
    """The configuration of this run, read at first use and kept in the root context.

    Commands of plugins are looked up before the root command's own code runs.
    """
    root = context.find_root()
    if root.obj is None:
        root.obj = config_with(context, {})
    config: Config = root.obj
    return config


def config_with(
    context: click.Context, flags: Mapping[str, str], environ: Mapping[str, str] | None = None
) -> Config:
    """The configuration of this run, overridden by the options of a command.

    `environ` stands for the environment of the process.
    """
    from vr_kernel import load_config

    given = context.find_root().params["settings"]
    return load_config(environ, {**dict(s.partition("=")[::2] for s in given), **flags})
