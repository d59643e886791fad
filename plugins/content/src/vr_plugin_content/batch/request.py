"""The request for one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vr_kernel import Code, VrError

from vr_plugin_content.analyses.request import AnalysisRequest
from vr_plugin_content.arguments import EngineChoice
from vr_plugin_content.results.batch import Mode

MOST_PATHS = 1_000
"""Most paths of one call."""


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """The files, and what is asked of them; either `directory` or `file_paths` is given."""

    directory: str
    file_paths: Sequence[str]
    pattern: str
    most: int
    mode: Mode
    analysis: AnalysisRequest
    engine: EngineChoice
    strict: bool
    use_cache: bool

    def check(self) -> None:
        """Refuse both sources together, and none at all.

        Raises:
            VrError: INVALID_INPUT, category SOURCE_AMBIGUOUS.
        """
        if len(self.file_paths) > MOST_PATHS:
            raise VrError(
                f"{len(self.file_paths):,} paths are too many; at most {MOST_PATHS:,} are taken.",
                Code.TOO_LARGE,
                hint="Give a directory with a glob_pattern, or several calls.",
            )
        if bool(self.directory) == bool(self.file_paths):
            raise VrError(
                "Exactly one of directory and file_paths is needed.",
                Code.INVALID_INPUT,
                category="SOURCE_AMBIGUOUS",
                hint="Give directory for a folder, or file_paths for single files and addresses.",
            )
