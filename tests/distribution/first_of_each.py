"""Runs pytest with the first case of each test: what a test imports, its first case imports.

python -P first_of_each.py OPTIONS
"""

from __future__ import annotations

import sys

import pytest

EXAMPLES = 10


class FirstOfEach:
    """Leaves out the further parameters of a test, and most examples of Hypothesis."""

    def pytest_configure(self) -> None:
        """Ask for few examples where a test does not say how many."""
        from hypothesis import settings  # not before pytest has seen its module

        settings.register_profile("few", max_examples=EXAMPLES)
        settings.load_profile("few")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep one item of each test."""
        tests: dict[str, pytest.Item] = {}
        for item in items:
            tests.setdefault(item.nodeid.partition("[")[0], item)
        items[:] = tests.values()


if __name__ == "__main__":
    sys.exit(pytest.main(sys.argv[1:], plugins=[FirstOfEach()]))
