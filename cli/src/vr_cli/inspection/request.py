"""The request that the inspecting process sends to the one that runs a plugin's code."""

from __future__ import annotations

from dataclasses import dataclass

REQUEST, REPORT, OUTPUT, LOG = "request.json", "report.json", "stdout", "stderr"
"""Files of the folder that both processes share."""


@dataclass(frozen=True, slots=True)
class Request:
    """A plugin to load: an entry point below a folder, or an installed plugin when there is none.

    `wanted` and `disabled` choose the other plugins of its kernel; `deadline_s` is the time in
    seconds that one import, or one hook, may take.
    """

    name: str
    distribution: str
    target: str
    source: str
    wanted: list[str]
    disabled: list[str]
    deadline_s: float
