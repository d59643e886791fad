"""An analysis as a document to read."""

from __future__ import annotations

from vr_kernel.views import as_markdown

from vr_plugin_video.models import Moment, VideoAnalysis
from vr_plugin_video.text.times import Window
from vr_plugin_video.views.analysis import analysis_view

_VERDICTS = {
    "": "",
    "verified": "The quote was found at this time.",
    "moved": "Moved to where the quote was found",
    "not_found": "The quote was not found: take the time with care.",
    "unchecked": "Not checked: there was no text to look in.",
}
FRONT = '---\nkind: "VideoAnalyses"\nderived: "true"\n---\n\n'
"""Front matter that tells a reader of the file that it is not a source."""


def report_of(analysis: VideoAnalysis, window: Window) -> str:
    """An analysis as Markdown."""
    return FRONT + as_markdown(analysis_view(analysis, window))


def verdict_of(moment: Moment) -> str:
    """Return the verdict on a moment's quote in words; empty when it was not checked."""
    verdict = _VERDICTS[moment.status]
    if moment.status != "moved":
        return verdict
    return verdict + (f"; the model said {moment.original_time}." if moment.original_time else ".")
