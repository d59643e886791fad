"""Imports of a distribution's modules, as a graph of the modules that run when one is imported.

An import inside a function counts; one that only a type checker reads does not. A name that a
package imports at first use (`lazy_exports`) stands for the module that defines it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from workspace_tree import Distribution, Module


@dataclass(frozen=True)
class Import:
    """One imported name, such as `Call` of `vr_kernel`; without a name, the module itself."""

    node: ast.stmt
    module: str
    name: str


def imports(tree: ast.AST, *, types: bool = False) -> Iterator[Import]:
    """All absolute imports below a node; with `types`, also those for a type checker alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) and not types:
            yield from imports(ast.Module(node.orelse, []))
        elif isinstance(node, ast.Import):
            yield from (Import(node, alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (Import(node, node.module or "", alias.name) for alias in node.names)
        else:
            yield from imports(node, types=types)


def import_graph(distribution: Distribution) -> dict[str, set[str]]:
    """Each module of a distribution with those of the same distribution that it imports."""
    modules = {dotted(distribution, module): module for module in distribution.modules}
    homes = {name: lazy_homes(module) for name, module in modules.items()}
    return {
        name: {
            target
            for found in imports(module.tree)
            if (target := _target(found, modules, homes)) and target != name
        }
        for name, module in modules.items()
    }


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """The modules of a circle in the order of their imports; none when there is no circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as found:
        return list(found.args[1])
    return []


def dotted(distribution: Distribution, module: Module) -> str:
    """The name by which a module is imported."""
    parts = module.path.relative_to(distribution.package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def lazy_homes(module: Module) -> dict[str, str]:
    """Names that a package imports at first use, each with the module that defines it."""
    if "lazy_exports(" not in module.text:
        return {}
    return {
        found.name: found.module
        for branch in module.tree.body
        if isinstance(branch, ast.If)
        for found in imports(ast.Module(branch.body, []), types=True)
    }


def _target(
    found: Import, modules: Mapping[str, Module], homes: Mapping[str, Mapping[str, str]]
) -> str | None:
    if (below := f"{found.module}.{found.name}") in modules:
        return below
    home = homes.get(found.module, {}).get(found.name, found.module)
    return home if home in modules else None
