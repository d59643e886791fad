"""Small modules, small functions, everything annotated and said in a line."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from statistics import median

import pytest
from workspace_tree import DISTRIBUTIONS, Distribution, Module

MODULE_MEDIAN, MODULE_CAP = 120, 300
FUNCTION_MEDIAN, FUNCTION_P90, FUNCTION_CAP = 10, 35, 60
UNDOCUMENTED = {"override", "overload", "setter", "deleter"}  # said where it is first declared

Function = ast.FunctionDef | ast.AsyncFunctionDef
each_distribution = pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=str)


@each_distribution
def test_modules_are_small(distribution: Distribution) -> None:
    sizes = {module: module.lines for module in distribution.modules if module.lines}
    too_long = [f"{m.at(m.tree)} {size} lines" for m, size in sizes.items() if size > MODULE_CAP]
    assert not too_long, "\n".join(too_long)
    assert median(sizes.values()) <= MODULE_MEDIAN


@each_distribution
def test_functions_are_small(distribution: Distribution) -> None:
    sizes = sorted(
        (node.end_lineno - node.lineno + 1, f"{module.at(node)} {node.name}")
        for module in distribution.modules
        for node in module.functions
    ) or [(0, "no functions")]
    longest = "\n".join(f"{where}: {size} lines" for size, where in sizes[:-11:-1])
    assert sizes[-1][0] <= FUNCTION_CAP, longest
    assert sizes[(len(sizes) * 9 - 1) // 10][0] <= FUNCTION_P90, longest
    assert median(size for size, _ in sizes) <= FUNCTION_MEDIAN, longest


@each_distribution
def test_everything_is_annotated(distribution: Distribution) -> None:
    bare = [
        f"{module.at(node)} {node.name}: {', '.join(missing)}"
        for module in distribution.modules
        for node in module.functions
        if (missing := _unannotated(node))
    ]
    assert not bare, "\n".join(bare)


@each_distribution
def test_every_public_name_has_a_docstring(distribution: Distribution) -> None:
    silent = [
        f"{module.at(node)} {getattr(node, 'name', 'module')}"
        for module in distribution.modules
        for node in _public(module)
        if not ast.get_docstring(node)
    ]
    assert not silent, "\n".join(silent)


def _unannotated(node: Function) -> list[str]:
    spec = node.args
    given = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
    given += [extra for extra in (spec.vararg, spec.kwarg) if extra]
    missing = [
        argument.arg
        for position, argument in enumerate(given)
        if argument.annotation is None
        and not (position == 0 and argument.arg in {"self", "cls", "mcs"})
    ]
    return missing if node.returns else [*missing, "return"]


def _public(module: Module) -> Iterator[ast.Module | ast.ClassDef | Function]:
    if module.path.stem.startswith("_") and module.path.stem != "__init__":
        return
    yield module.tree
    yield from _public_members(module.tree)


def _public_members(owner: ast.Module | ast.ClassDef) -> Iterator[ast.ClassDef | Function]:
    for node in owner.body:
        if not isinstance(node, ast.ClassDef | Function) or node.name.startswith("_"):
            continue
        if UNDOCUMENTED.isdisjoint(_decorators(node)):
            yield node
        if isinstance(node, ast.ClassDef):
            yield from _public_members(node)


def _decorators(node: ast.ClassDef | Function) -> set[str]:
    plain = [item.func if isinstance(item, ast.Call) else item for item in node.decorator_list]
    return {ast.unparse(item).rpartition(".")[2] for item in plain}
