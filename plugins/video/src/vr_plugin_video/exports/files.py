"""The forms in which an analysis is written to a file."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from vr_kernel import Artifact, Call, Services, ViewRenderer, visible_json

from vr_plugin_video.analyses.report import report_of
from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.text.times import Window
from vr_plugin_video.views.analysis import analysis_view

MIME = {"html": "text/html", "md": "text/markdown", "json": "application/json"}


def require_renderer(services: Services, form: str) -> None:
    """Check that the form can be written, before anything is paid for it.

    Raises:
        VrError: UNAVAILABLE when nothing that makes pages is installed.
    """
    if form == "html":
        services.providers.get(ViewRenderer)


async def write(call: Call, window: Window, analysis: VideoAnalysis, form: str) -> Artifact:
    """The analysis as an artifact: `html`, `md` or `json`.

    Raises:
        VrError: UNAVAILABLE when the artifacts folder cannot be written.
    """
    if form == "html":
        text = await _page(call.services, window, analysis)
    elif form == "md":
        text = await asyncio.to_thread(report_of, analysis, window)
    else:
        text = await asyncio.to_thread(visible_json, analysis.model_dump_json(indent=1))
    content = text.encode("utf-8", "replace")
    return await asyncio.to_thread(call.artifact, content, MIME[form])


async def _page(services: Services, window: Window, analysis: VideoAnalysis) -> str:
    today = datetime.now().astimezone().date()
    view = await asyncio.to_thread(analysis_view, analysis, window)
    dated = replace(view, about=[*view.about, f"exported on {today.isoformat()}"])
    return await services.providers.get(ViewRenderer).page(dated, Path(services.artifacts.folder))
