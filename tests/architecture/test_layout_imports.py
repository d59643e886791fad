"""Contracts of imports are complete, nothing goes in circles, heavy libraries wait."""

from __future__ import annotations

import ast
import configparser
from collections.abc import Iterator
from pathlib import Path

import pytest
from import_graph import circle, import_graph
from workspace_tree import (
    BUILT_ON_THE_FACE,
    DISTRIBUTIONS,
    EXAMPLES,
    KERNEL,
    META,
    PLUGINS,
    RELEASED,
    ROOT,
    Distribution,
)

BANNED_NAMES = {"util", "utils", "helper", "helpers", "manager", "managers", "common", "misc"}
HEAVY = {
    "PIL", "av", "cv2", "faster_whisper", "google", "googleapiclient", "numpy", "onnxruntime",
    "openai", "rapidocr", "rich", "tokenizers", "weaviate",
}  # fmt: skip
LANDING = 25
"""Modules that may lie beside the kernel's rooms."""
each_distribution = pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=str)


def test_ruff_bans_every_heavy_library() -> None:
    ruff = META.table["tool"]["ruff"]["lint"]["flake8-tidy-imports"]
    assert set(ruff["banned-module-level-imports"]) >= HEAVY


@each_distribution
def test_heavy_libraries_are_imported_where_they_are_used(distribution: Distribution) -> None:
    early = [
        f"{module.at(node)} {name}"
        for module in distribution.modules
        for node, name in _imported_at_load(module.tree)
        if name.partition(".")[0] in HEAVY
    ]
    assert not early, "\n".join(early)


@each_distribution
def test_files_are_named_for_what_they_hold(distribution: Distribution) -> None:
    paths = [p for p in distribution.package.rglob("*") if p.stem.strip("_") in BANNED_NAMES]
    assert not paths


@each_distribution
def test_nothing_imports_in_a_circle(distribution: Distribution) -> None:
    assert circle(import_graph(distribution)) == []


def test_few_modules_lie_beside_the_rooms_of_the_kernel() -> None:
    assert len(_landing()) <= LANDING, sorted(_landing())


def test_contracts_name_every_package() -> None:
    contracts = _contracts()
    packages = {distribution.package.name for distribution in RELEASED}
    plugins = {plugin.package.name for plugin in PLUGINS}
    fronts = {each.package.name for each in BUILT_ON_THE_FACE} - {e.package.name for e in EXAMPLES}
    assert _names(contracts["importlinter"]["root_packages"]) == packages
    for section, key, named in (
        ("independent", "modules", plugins | {META.package.name}),
        ("directions", "layers", packages - {META.package.name}),
        ("backends", "source_modules", packages),
        ("public-names", "source_modules", fronts),
    ):
        listed = _names(contracts[f"importlinter:contract:{section}"][key])
        assert listed == named, f"{section} differs by {listed ^ named}"


def test_every_room_of_the_kernel_has_its_layer() -> None:
    rooms = {path.parent.name for path in KERNEL.package.glob("*/__init__.py")}
    contract = _contracts()["importlinter:contract:kernel-layers"]
    assert contract["exhaustive"] == "True"
    assert _names(contract["layers"]) == rooms | _landing() | {"__main__"}


def test_every_module_beside_the_rooms_is_closed_to_others() -> None:
    """Names are taken from `vr_kernel`, or from a room that lists them."""
    silent = {p.parent.name for p in KERNEL.package.glob("*/__init__.py") if _lists_nothing(p)}
    closed = {f"vr_kernel.{name}" for name in _landing() | silent} | {"vr_kernel.*.*"}
    forbidden = _contracts()["importlinter:contract:public-names"]["forbidden_modules"]
    assert _names(forbidden) == closed


def _landing() -> set[str]:
    return {p.stem for p in KERNEL.package.glob("*.py")} - {"__init__", "__main__"}


def _lists_nothing(package: Path) -> bool:
    return "__all__" not in package.read_text(encoding="utf-8")


def _contracts() -> dict[str, dict[str, str]]:
    parser = configparser.ConfigParser()
    parser.read(ROOT / ".importlinter", encoding="utf-8")
    return {name: dict(parser[name]) for name in parser.sections()}


def _names(value: str) -> set[str]:
    """The names of a list, where lines of layers may hold several beside each other."""
    return {name for word in value.replace("|", "\n").splitlines() if (name := word.strip())}


def _imported_at_load(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node, node.module or ""
        else:
            yield from _imported_at_load(node)
