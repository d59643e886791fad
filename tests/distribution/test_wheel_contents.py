"""A wheel holds its package whole and nothing else, and says what it is."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from builds import Build
from packaging.requirements import Requirement

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def projects(tree: Path) -> dict[str, tuple[Path, dict[str, Any]]]:
    """Folder and `[project]` of each distribution, by its name in file names."""
    files = [tree / "pyproject.toml", *sorted(tree.glob("*/pyproject.toml"))]
    files += sorted((tree / "plugins").glob("*/pyproject.toml"))
    files += sorted((tree / "examples").glob("*/pyproject.toml"))
    tables = {
        path.parent: tomllib.loads(path.read_text(encoding="utf-8"))["project"] for path in files
    }
    return {table["name"].replace("-", "_"): (at, table) for at, table in tables.items()}


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_every_distribution_is_built(built: Build) -> None:
    expected = set(projects(built.tree))
    assert {wheel.name for wheel in built.wheels} == expected
    assert all(built.sdist(name) for name in expected)


def test_a_wheel_holds_its_package_and_nothing_else(built: Build) -> None:
    for wheel in built.wheels:
        folder, _ = projects(built.tree)[wheel.name]
        held = {name for name in wheel.contents() if ".dist-info/" not in name}
        assert held == files_below(folder / "src"), wheel.name
        assert f"{wheel.name}/py.typed" in held


def test_what_must_travel_with_the_code_does(built: Build) -> None:
    """Data that a look at the tree alone could miss, should the tree lose it."""
    held = {name for wheel in built.wheels for name in wheel.contents()}
    assert {
        "vr_cli/template/pyproject.toml.tmpl",
        "video_research/talk.mp4",
        "vr_embedder_minilm/model/NOTICE",
        "vr_pages/page.css",
    } <= held
    assert any(name.startswith("vr_embedder_minilm/model/") and ".onnx" in name for name in held)


def test_a_wheel_from_the_sdist_is_that_from_the_tree(built: Build) -> None:
    direct = {wheel.name: wheel.contents() for wheel in built.wheels_from_tree}
    assert {wheel.name: wheel.contents() for wheel in built.wheels} == direct


def test_an_sdist_holds_its_own_distribution(built: Build) -> None:
    added = {"PKG-INFO", ".gitignore"}
    for name, (folder, _) in projects(built.tree).items():
        held = built.sdist(name) - added
        assert held <= files_below(folder), name
        foreign = {
            "kernel",
            "server",
            "cli",
            "testing",
            "pages",
            "plugins",
            "examples",
            "tests",
            "benchmarks",
            ".github",
        }
        own = foreign if folder == built.tree else foreign - {"tests"}
        assert not {path.partition("/")[0] for path in held} & own, name
        assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"} <= held, name


def test_the_metadata_says_what_it_is(built: Build) -> None:
    for wheel in built.wheels:
        _, project = projects(built.tree)[wheel.name]
        metadata = wheel.metadata()
        assert metadata["Version"] == project["version"]
        assert metadata["Summary"] == project["description"]
        assert metadata["License-Expression"] == "Apache-2.0"
        assert "LICENSE" in metadata.get_all("License-File", [])
        assert metadata["Requires-Python"] == ">=3.11"
        assert metadata["Description-Content-Type"] == "text/markdown"
        assert "Typing :: Typed" in metadata.get_all("Classifier", [])
        assert len(str(metadata.get_payload())) > 200
        assert all(Requirement(r).url is None for r in metadata.get_all("Requires-Dist", []))


def test_the_entry_points_are_those_of_the_project(built: Build) -> None:
    for wheel in built.wheels:
        _, project = projects(built.tree)[wheel.name]
        assert wheel.entry_points() == {
            **({"console_scripts": project["scripts"]} if "scripts" in project else {}),
            **project.get("entry-points", {}),
        }
