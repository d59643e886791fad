"""The request for one batch."""

from __future__ import annotations

from dataclasses import dataclass

from vr_kernel import Code, VrError

from vr_plugin_video.analyses.request import AnalysisRequest
from vr_plugin_video.arguments import EngineChoice


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """The videos, and what is asked of them; exactly one of `directory` and `url` is set."""

    directory: str
    url: str
    pattern: str
    most: int
    analysis: AnalysisRequest
    engine: EngineChoice
    use_cache: bool

    def check(self) -> None:
        """Refuse both sources together, and none at all.

        Raises:
            VrError: INVALID_INPUT, category SOURCE_AMBIGUOUS.
        """
        if bool(self.directory) == bool(self.url):
            raise VrError(
                "Exactly one of directory and url is needed.",
                Code.INVALID_INPUT,
                category="SOURCE_AMBIGUOUS",
                hint="Give directory for a folder of this machine, or url for a YouTube playlist.",
            )
