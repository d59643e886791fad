"""The plugin's own configuration section, `[plugins.research]`."""

from __future__ import annotations

from vr_kernel import Section


class ResearchSettings(Section):
    """Settings of the research tools."""
