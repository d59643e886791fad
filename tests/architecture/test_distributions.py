"""Every distribution can be released: versions, ranges, licence, changelog, entry point."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import version as installed_version

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from workspace_tree import (
    BUILT_ON_THE_FACE,
    DISTRIBUTIONS,
    EXAMPLES,
    KERNEL,
    META,
    PAGES,
    PLUGINS,
    RELEASED,
    ROOT,
    TESTING,
    Distribution,
)

GROUP = "vr.plugins"
OTHER_GROUPS = {"vr.providers", "vr.refills"}
"""Hints for kernels without a provider: kind, and the distribution that brings one."""
SECTIONS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
RELEASE = re.compile(r"\[?Unreleased\]?|\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}")
each_distribution = pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=str)
each_released = pytest.mark.parametrize("distribution", RELEASED, ids=str)


def test_every_plugin_folder_is_a_distribution() -> None:
    folders = {path for path in (ROOT / "plugins").iterdir() if path.is_dir()}
    assert folders == {plugin.folder for plugin in PLUGINS}
    assert PLUGINS


@each_released
def test_versions_are_equal(distribution: Distribution) -> None:
    assert distribution.project["version"] == KERNEL.project["version"]
    assert installed_version(distribution.name) == KERNEL.project["version"]


@each_distribution
def test_requirements_are_ranges(distribution: Distribution) -> None:
    for requirement in _requirements(distribution):
        operators = {specifier.operator for specifier in requirement.specifier}
        assert not operators & {"==", "==="}, f"{requirement} pins"
        assert operators & {">=", "~=", ">"}, f"{requirement} has no floor"


@pytest.mark.parametrize("distribution", [*BUILT_ON_THE_FACE, TESTING], ids=str)
def test_the_kernel_is_capped_below_its_next_minor(distribution: Distribution) -> None:
    """Minors of a kernel 0.x may break."""
    kernel = Version(KERNEL.project["version"])
    ours = [item for item in _requirements(distribution) if item.name == KERNEL.name]
    assert ours
    for requirement in ours:
        assert kernel in requirement.specifier
        assert Version(f"{kernel.major}.{kernel.minor + 1}.0") not in requirement.specifier


@each_released
def test_what_it_requires_of_ours_is_of_this_release(distribution: Distribution) -> None:
    kernel = Version(KERNEL.project["version"])
    ours = {item.name: item for item in _requirements(distribution) if item.name.startswith("vr-")}
    assert set(ours) <= {each.name for each in RELEASED}
    assert all(kernel in requirement.specifier for requirement in ours.values())


SERVER_STACK = {"fastmcp", "mcp", "starlette", "uvicorn", "click", "rich"}


def test_the_kernel_requires_no_server_and_no_terminal() -> None:
    required = {item.name for item in _requirements(KERNEL)}
    assert not required & SERVER_STACK
    assert not any(name.startswith("vr-") for name in required)


@each_distribution
def test_it_says_what_it_is(distribution: Distribution) -> None:
    project = distribution.project
    assert project["license"] == "Apache-2.0"
    assert project["requires-python"] == ">=3.11"
    assert project["description"]
    assert (distribution.folder / project["readme"]).stat().st_size > 200
    assert (distribution.package / "py.typed").is_file()


@each_released
def test_the_licence_travels_with_it(distribution: Distribution) -> None:
    """Apache-2.0, section 4(a): whoever gets the code gets a copy of the licence."""
    copy = distribution.folder / "LICENSE"
    assert copy.is_file()
    assert copy.read_bytes() == (ROOT / "LICENSE").read_bytes()


@each_released
def test_the_changelog_keeps_its_form(distribution: Distribution) -> None:
    text = (distribution.folder / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = [line.partition(" ") for line in text.splitlines() if line.startswith("#")]
    assert headings[0] == ("#", " ", "Changelog")
    releases = [title for level, _, title in headings if level == "##"]
    assert all(RELEASE.fullmatch(title) for title in releases), releases
    assert releases[0].strip("[]") == "Unreleased" or KERNEL.project["version"] in releases[0]
    assert {title for level, _, title in headings if level == "###"} <= SECTIONS
    assert re.search(r"^- \S", text, re.MULTILINE), "it names no change"


@pytest.mark.parametrize("distribution", [META, PAGES, *PLUGINS, *EXAMPLES], ids=str)
def test_it_is_found_through_one_entry_point(distribution: Distribution) -> None:
    groups = distribution.project["entry-points"]
    assert set(groups) - OTHER_GROUPS == {GROUP}
    (target,) = groups[GROUP].values()
    assert target == f"{distribution.package.name}.plugin"
    assert (distribution.package / "plugin.py").is_file()


def test_plugins_have_names_of_their_own() -> None:
    there = (META, PAGES, *PLUGINS, *EXAMPLES)
    names = [n for each in there for n in each.project["entry-points"][GROUP]]
    assert len(names) == len(set(names))
    folders = {plugin.folder.name for plugin in PLUGINS}
    assert folders == {n for plugin in PLUGINS for n in plugin.project["entry-points"][GROUP]}


def _requirements(distribution: Distribution) -> Iterator[Requirement]:
    table, project = distribution.table, distribution.project
    groups = [
        table["build-system"]["requires"],
        project.get("dependencies", []),
        *project.get("optional-dependencies", {}).values(),
        *table.get("dependency-groups", {}).values(),
    ]
    for item in (item for group in groups for item in group if isinstance(item, str)):
        requirement = Requirement(item)
        if requirement.specifier or requirement.name != META.name:
            yield requirement
