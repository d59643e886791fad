"""Who may import whom, and when: contracts are complete, heavy libraries wait, names say much."""

from __future__ import annotations

import ast
import configparser
from collections.abc import Iterator

import pytest
import vr_kernel
from workspace_tree import (
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
PUBLIC = {
    "cache", "call", "commands", "contents", "database_damage", "database_faults", "read_only",
    "database_health", "documents",
    "errors", "events", "generation",
    "hookspecs", "joining", "prompts", "providers", "quotes", "records", "resources", "services",
    "testing", "tokens", "tools",
}  # fmt: skip
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


def test_contracts_name_every_package() -> None:
    contracts = _contracts()
    packages = {distribution.package.name for distribution in RELEASED}
    plugins = {plugin.package.name for plugin in PLUGINS}
    assert _names(contracts["importlinter"]["root_packages"]) == packages
    assert _names(contracts["importlinter:contract:independent"]["modules"]) == (
        plugins | {META.package.name}
    )
    for section in ("kernel-knows-no-plugin", "public-names", "backends"):
        contract = contracts[f"importlinter:contract:{section}"]
        listed = _names(contract["source_modules"]) | _names(contract["forbidden_modules"])
        assert listed >= plugins, f"{section} misses {plugins - listed}"
    assert contracts["importlinter:contract:kernel-layers"]["exhaustive"] == "True"


def test_every_module_of_the_kernel_is_public_or_forbidden() -> None:
    paths = [path for path in KERNEL.package.iterdir() if not path.stem.startswith(("_", "."))]
    modules = {path.stem for path in paths if path.suffix == ".py" or any(path.rglob("*.py"))}
    forbidden = _names(_contracts()["importlinter:contract:public-names"]["forbidden_modules"])
    assert forbidden == {f"vr_kernel.{name}" for name in modules - PUBLIC}


@pytest.mark.parametrize("distribution", [*PLUGINS, *EXAMPLES], ids=str)
def test_plugins_name_only_what_the_kernel_offers(distribution: Distribution) -> None:
    """Import contracts see modules, not names, and nothing that only a type checker reads."""
    taken = [
        f"{module.at(node)} {node.module}.{alias.name}"
        for module in distribution.modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("vr_kernel")
        for alias in node.names
        if not _offered(node.module or "", alias.name)
    ]
    assert not taken, "\n".join(taken)


def _offered(module: str, name: str) -> bool:
    if module == "vr_kernel":
        return name in vr_kernel.__all__
    return module.removeprefix("vr_kernel.") in PUBLIC and not name.startswith("_")


def _contracts() -> dict[str, dict[str, str]]:
    parser = configparser.ConfigParser()
    parser.read(ROOT / ".importlinter", encoding="utf-8")
    return {name: dict(parser[name]) for name in parser.sections()}


def _names(value: str) -> set[str]:
    return {line.strip() for line in value.splitlines() if line.strip()}


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
