"""An analysis as a document to read."""

from __future__ import annotations

from vr_kernel.views import as_markdown

from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.text.times import Window
from vr_plugin_video.views.analysis import analysis_view

FRONT = '---\nkind: "VideoAnalyses"\nderived: "true"\n---\n\n'
"""Front matter that tells a reader of the file that it is not a source."""


def report_of(analysis: VideoAnalysis, window: Window) -> str:
    """An analysis as Markdown."""
    return FRONT + as_markdown(analysis_view(analysis, window))
