"""Fixtures of the search plugin's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fake_search import FakeSearch


@pytest.fixture(scope="session")
def services() -> Iterator[FakeSearch]:
    """The fake services, which run for all tests."""
    with FakeSearch() as running:
        yield running


@pytest.fixture
def fake(services: FakeSearch) -> FakeSearch:
    """The fake services, without a memory of other tests."""
    services.heal()
    services.forget()
    return services
