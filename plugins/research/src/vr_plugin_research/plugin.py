"""The plugin's hooks."""

from __future__ import annotations

from pydantic import BaseModel
from vr_kernel import hookimpl

from vr_plugin_research.settings import ResearchSettings


@hookimpl
def vr_settings() -> type[BaseModel]:
    """`[plugins.research]`."""
    return ResearchSettings
