"""The official suite: what it lists, what a run of it finds, what is expected to fail."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from node_programs import NodePrograms

EXPECTED = Path(__file__).with_name("expected_failures.toml")
EXTENSION = "extension"
"""The suite's name for scenarios that belong to no version of the protocol."""
_LISTED = re.compile(r"^ +- (\S+) \[(.*)\]$", re.MULTILINE)
_FOLDER = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT.*")
_BAD = {"FAILURE", "WARNING"}


@dataclass(frozen=True)
class Findings:
    """Results of a run: the states of each check, by `scenario:check`."""

    states: Mapping[str, frozenset[str]]

    @property
    def scenarios(self) -> set[str]:
        """Names of the scenarios that were run."""
        return {check.partition(":")[0] for check in self.states}

    @property
    def failed(self) -> set[str]:
        """Checks that failed, or warn, once or more often."""
        return {check for check, states in self.states.items() if states & _BAD}

    def summary(self) -> str:
        """Numbers of checks and scenarios by their outcome."""
        ends = Counter("failed" if s & _BAD else max(s) for s in self.states.values())
        bad = {check.partition(":")[0] for check in self.failed}
        return f"{len(self.scenarios) - len(bad)} of {len(self.scenarios)} scenarios; {dict(ends)}"


class Suite:
    """The suite, run from a folder of its own."""

    def __init__(self, programs: NodePrograms, folder: Path) -> None:
        self._programs = programs
        self._folder = folder

    def scenarios(self, era: str) -> set[str]:
        """Scenarios that the suite lists for a version of the protocol."""
        said = self._programs.run("conformance", "list", "--server", folder=self._folder)
        return {name for name, eras in _LISTED.findall(said.stdout) if era in eras.split(",")}

    def run(self, address: str, era: str) -> Findings:
        """Everything that it has for one version; without a version, extensions alone."""
        version = () if era == EXTENSION else ("--spec-version", era)
        output = self._folder / "results"
        options = ("--url", address, "--suite", "all", *version, "-o", str(output))
        self._programs.run("conformance", "server", *options, folder=self._folder)
        wanted = self.scenarios(era)
        states: dict[str, frozenset[str]] = {}
        for file in sorted(output.glob("*/checks.json")):
            found = _FOLDER.fullmatch(file.parent.name)
            if found is None or found[1] not in wanted:
                continue
            for check in json.loads(file.read_text("utf-8")):
                name = f"{found[1]}:{check['id']}"
                states[name] = states.get(name, frozenset()) | {check["status"]}
        return Findings(states)


def expected_failures(era: str) -> set[str]:
    """Checks that fail for a reason, by `scenario:check`."""
    groups = tomllib.loads(EXPECTED.read_text("utf-8"))["expected"]
    return {check for group in groups if era in group["eras"] for check in group["checks"]}
