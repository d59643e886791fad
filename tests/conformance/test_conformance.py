"""The official conformance suite meets a real server, in every era of the protocol."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest
from conformance_suite import EXPECTED, EXTENSION, Suite, expected_failures
from node_programs import NodePrograms

ERAS = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", EXTENSION]


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_what_fails_is_what_is_expected_to_fail(
    era: str, programs: NodePrograms, address: str, tmp_path: Path
) -> None:
    suite = Suite(programs, tmp_path)
    found, expected = suite.run(address, era), expected_failures(era)
    sys.stdout.write(f"{era}: {found.summary()}\n")
    assert found.scenarios == suite.scenarios(era) != set()
    assert sorted(found.failed - expected) == [], "these fail, and are not expected to"
    assert sorted(expected - found.failed) == [], "these are expected to fail, and do not"


def test_every_expected_failure_has_a_reason() -> None:
    groups = tomllib.loads(EXPECTED.read_text("utf-8"))["expected"]
    assert all(group["reason"].strip().endswith(".") for group in groups)
    named = [(era, check) for group in groups for era in group["eras"] for check in group["checks"]]
    assert len(named) == len(set(named))
    assert {era for era, _ in named} <= set(ERAS)
