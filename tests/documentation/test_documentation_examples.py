"""The examples of clients' files hold what `vr init` writes, started with uvx."""

from __future__ import annotations

from pathlib import Path

import pytest
from installation import REPOSITORY
from vr_cli.onboarding.clients import CLIENTS, Client
from vr_cli.onboarding.launch import Launch
from vr_cli.onboarding.plan import client_change

EXAMPLES = REPOSITORY / "examples" / "clients"
UVX = Launch("uvx", ("--from", "video-research[local]", "video-research", "serve"), {})


def example(client: Client) -> Path:
    """The client's file among the examples."""
    return EXAMPLES / f"{client.name}.{'toml' if client.format == 'toml' else 'json'}"


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_an_example_is_what_init_writes(client: Client, tmp_path: Path) -> None:
    written = client_change(client, tmp_path / "none", UVX).after
    assert example(client).read_text("utf-8") == written


def test_there_are_no_other_examples() -> None:
    assert set(EXAMPLES.iterdir()) == set(map(example, CLIENTS))
