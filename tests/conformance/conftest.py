"""Fixtures of the tests with clients that others wrote."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from everything_server import Everything
from node_programs import NodePrograms, NotInstalledError, install
from server_process import HttpServerProcess


@pytest.fixture(scope="session")
def programs() -> NodePrograms:
    try:
        return install()
    except NotInstalledError as reason:
        if reason.fault and os.environ.get("VR_STRICT") == "1":
            raise
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Everything:
    return Everything(tmp_path_factory.mktemp("everything"))


@pytest.fixture(scope="module")
def address(everything: Everything) -> Iterator[str]:
    """Address of a server of everything."""
    with HttpServerProcess(everything.environment(), everything.work) as server:
        yield server.url
