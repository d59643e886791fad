"""The plugin's own configuration section, `[plugins.search]`."""

from __future__ import annotations

from vr_kernel import Section


class SearchSettings(Section):
    """Settings of the search tools."""
