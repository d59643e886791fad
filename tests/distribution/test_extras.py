"""Every extra of a plugin is reached by an extra of the whole, and what is missing names that."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from installation import REPOSITORY
from vr_kernel import Embedder, Store, TextRecognizer, VrError
from vr_kernel.providers import ProviderRegistry
from vr_kernel.views import ViewRenderer

OF_A_SCRIPT = {("vr-embedder-minilm", "export")}
"""Needed by a script of the repository, by no command."""
_NEED = re.compile(r"([\w-]+)(?:\[([\w,-]+)\])?")


def project(folder: Path) -> Any:
    return tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]


def reached(extras: dict[str, list[str]], name: str) -> set[tuple[str, str]]:
    """The extras of plugins that an extra of the whole brings."""
    found: set[tuple[str, str]] = set()
    for requirement in extras[name]:
        match = _NEED.match(requirement)
        assert match
        for extra in filter(None, (match[2] or "").split(",")):
            own = match[1] == "video-research"
            found |= reached(extras, extra) if own else {(match[1], extra)}
    return found


def test_every_extra_of_a_plugin_is_reached_and_all_brings_all() -> None:
    plugins = [project(file.parent) for file in REPOSITORY.glob("plugins/*/pyproject.toml")]
    offered = {(p["name"], extra) for p in plugins for extra in p.get("optional-dependencies", {})}
    extras = project(REPOSITORY)["optional-dependencies"]
    assert reached(extras, "all") == offered - OF_A_SCRIPT
    named = set().union(*(reached(extras, name) for name in extras if name != "all"))
    assert named == offered - OF_A_SCRIPT


def test_hints_name_extras_of_the_whole_and_of_the_fronts_alone() -> None:
    """Parts of plugins come through extras of the whole; fronts stand without it, too."""
    fronts = [project(REPOSITORY / name) for name in ("server", "cli", "testing")]
    front_extras = {each["name"]: each.get("optional-dependencies", {}) for each in fronts}
    extras = project(REPOSITORY)["optional-dependencies"]
    for file in [*REPOSITORY.glob("*/src/**/*.py"), *REPOSITORY.glob("plugins/*/src/**/*.py")]:
        text = file.read_text("utf-8")
        for name, extra in re.findall(r"pip install ['\"]?(vr-[\w-]+)\[(\w+)\]", text):
            assert extra in front_extras.get(name, ()), file
        for extra in re.findall(r"video-research\[(\w+)\]", text):
            assert extra in extras, file


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (Store, "pip install vr-plugin-knowledge"),
        (Embedder, "pip install vr-embedder-minilm"),
        (ViewRenderer, "pip install vr-pages"),
        (TextRecognizer, 'pip install "video-research[local]"'),
    ],
)
def test_a_missing_provider_is_installed_by_a_distribution_of_ours(
    kind: type[object], wanted: str
) -> None:
    with pytest.raises(VrError) as caught:
        ProviderRegistry(lambda _kind: "").get(kind)
    assert caught.value.hint == f"Install one: {wanted}"
