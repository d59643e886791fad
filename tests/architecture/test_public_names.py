"""Fronts and plugins are written with public names, and each of these has one meaning."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module

import pytest
from import_graph import dotted, imports, lazy_homes
from workspace_tree import BUILT_ON_THE_FACE, CLI, DISTRIBUTIONS, KERNEL, META, SERVER, Distribution

LISTED = [
    pytest.param(distribution, module, id=dotted(distribution, module))
    for distribution in DISTRIBUTIONS
    for module in distribution.modules
    if "lazy_exports(" in module.text and module.path.name == "__init__.py"
]


def offered(*distributions: Distribution) -> dict[str, set[str]]:
    """The packages of distributions that list public names, and the names."""
    return {
        dotted(distribution, module): set(import_module(dotted(distribution, module)).__all__)
        for distribution in distributions
        for module in distribution.modules
        if module.path.name == "__init__.py" and "__all__" in module.text
    }


@pytest.mark.parametrize("distribution", BUILT_ON_THE_FACE, ids=str)
def test_it_is_written_with_public_names_of_the_kernel(distribution: Distribution) -> None:
    assert list(_private(distribution, KERNEL)) == []


@pytest.mark.parametrize("distribution", [CLI, META], ids=str)
def test_it_is_written_with_public_names_of_the_server(distribution: Distribution) -> None:
    assert list(_private(distribution, SERVER)) == []


# Decided in docs/decisions/views-are-data.md.
BLOCKS_OF_VIEWS = {"Code", "Media"}


def test_no_name_has_two_meanings() -> None:
    meanings = defaultdict(set)
    for package, names in offered(KERNEL).items():
        for name in names:
            meanings[name].add(id(getattr(import_module(package), name)))
    shared = {name for name, things in meanings.items() if len(things) > 1}
    assert shared == BLOCKS_OF_VIEWS


@pytest.mark.parametrize(("distribution", "module"), LISTED)
def test_a_list_of_names_agrees_with_what_is_imported(
    distribution: Distribution, module: object
) -> None:
    package = import_module(dotted(distribution, module))
    assert len(package.__all__) == len(set(package.__all__))
    read_by_type_checkers = lazy_homes(module)
    assert read_by_type_checkers.keys() | {"lazy_exports"} >= set(package.__all__)
    assert read_by_type_checkers.keys() <= set(package.__all__)
    for name, home in read_by_type_checkers.items():
        assert getattr(package, name) is getattr(import_module(home), name), name
    assert set(dir(package)) >= set(package.__all__)


def _private(distribution: Distribution, of: Distribution) -> Iterator[str]:
    """Imports, also those for type checkers, of what another distribution does not list."""
    lists, top = offered(of), of.package.name
    for module in distribution.modules:
        for found in imports(module.tree, types=True):
            is_theirs = found.module == top or found.module.startswith(f"{top}.")
            if is_theirs and found.name not in lists.get(found.module, ()):
                yield f"{module.at(found.node)} {ast.unparse(found.node)}"
