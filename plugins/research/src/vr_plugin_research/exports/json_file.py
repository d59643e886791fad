"""A report as JSON: all of it, with the version of its form."""

from __future__ import annotations

import json

from vr_kernel.text import spelled_json

from vr_plugin_research.results.report import ResearchReport

SCHEMA_VERSION = 1
"""Of the form; a change that an older reader would misread raises it."""


def json_of(report: ResearchReport) -> bytes:
    """The whole report, its fields sorted by name; invisible signs are spelled out."""
    data = {"schema_version": SCHEMA_VERSION, **report.model_dump()}
    ordered = json.loads(json.dumps(data, sort_keys=True))
    return f"{spelled_json(ordered, 2)}\n".encode("utf-8", "backslashreplace")
