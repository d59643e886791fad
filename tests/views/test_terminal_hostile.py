"""Texts of strangers steer no terminal: not as views, not as errors, not in colour."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_fork import FreshVr
from hostile_checks import STEERS
from hostile_texts import shares
from hostile_views import hostile, lively
from mirror import MIRROR, keep_view
from plugin_zoo import Zoo
from vr_kernel.views import View

pytest.importorskip("rich")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LINK = re.compile(r"\x1b\]8;[^;\x1b]*;([!-~]*)\x1b\\")
A_VIEW = 27
"""Texts of one view."""


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    return Zoo(tmp_path_factory.mktemp("zoo")).add(MIRROR)


@pytest.fixture
def vr(zoo: Zoo) -> FreshVr:
    return FreshVr(zoo.environment(COLUMNS="80"), zoo.work)


@shares(40)
def test_no_view_steers_a_terminal(vr: FreshVr, tmp_path: Path, texts: list[str]) -> None:
    for start in range(0, len(texts), A_VIEW):
        some = texts[start : start + A_VIEW]
        blocks = [block for text in some for it in (hostile, lively) for block in it(text).blocks]
        file = keep_view(View(some[0], blocks, some, some[0], some), tmp_path)
        plain = vr.run("mirror", "look", "--file", file, "--full")
        assert plain.code == 0
        assert not STEERS.search(plain.stdout + plain.stderr)
        coloured = FreshVr({**vr.environment, "FORCE_COLOR": "1"}, vr.folder)
        shown = coloured.run("mirror", "look", "--file", file, "--full").stdout
        assert all(it.startswith(("http", "file:///")) for it in LINK.findall(shown) if it)
        assert not STEERS.search(COLOUR.sub("", LINK.sub("", shown)))


@shares(60, others=8)
def test_no_error_steers_a_terminal(vr: FreshVr, tmp_path: Path, texts: list[str]) -> None:
    for text in texts:
        failed = vr.run("mirror", "break", "--file", keep_view(View(text), tmp_path))
        assert failed.code != 0
        assert not STEERS.search(failed.stdout + failed.stderr), repr(text)
