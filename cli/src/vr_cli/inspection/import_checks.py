"""Checks of imports: a plugin imports only our public names, which change with notice."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from vr_kernel import Diagnosis

from vr_cli.inspection.findings import Finding, or_ok
from vr_cli.inspection.public_names import PACKAGES, full_name, is_public, moved_to, remedy

_CHECK = "public names"
_IMPORTERS = ("import_module", "__import__")


def check_imports(module: str, source: Path | None) -> Iterator[Finding]:
    """Name each import of our packages' inside, with the public name to use where there is one.

    Args:
        module: the plugin's module.
        source: the folder its package lies in; empty for an installed package.
    """
    found = {
        (name, attribute): f"{file.name}, line {line}"
        for file in _files(module.partition(".")[0], source)
        for name, attribute, line in _imports(file)
        if not is_public(name, attribute)
    }
    yield from or_ok(_CHECK, (_finding(*names, place) for names, place in found.items()), "only")


def _finding(module: str, name: str, place: str) -> Finding:
    part, package = moved_to(module, name)
    what = f"{part} is in {package} now" if package else f"{full_name(module, name)} is private"
    return _CHECK, Diagnosis.warning(f"{what} ({place}).", remedy(module, name))


def _files(package: str, source: Path | None) -> Iterable[Path]:
    """The Python files of a package or of a module."""
    if source is None:
        try:
            spec = find_spec(package)
        except (ImportError, ValueError):
            spec = None
        origin = Path(spec.origin) if spec and spec.origin else None
    else:
        folder = source / package
        origin = folder / "__init__.py" if folder.is_dir() else source / f"{package}.py"
    if origin is None or not origin.parent.is_dir():
        return []
    return sorted(origin.parent.rglob("*.py")) if origin.name == "__init__.py" else [origin]


def _imports(file: Path) -> Iterator[tuple[str, str, int]]:
    """Module, name and line of each import of our packages; the name is empty for a module."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, ValueError, SyntaxError):  # importing it gives a better error
        return
    except (RecursionError, MemoryError):  # an expression too long for this parser
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Call):
            names = [(name, "") for name in _loaded(node)]
        else:
            continue
        for module, name in names:
            if module.partition(".")[0] in PACKAGES:
                yield module, name, node.lineno


def _loaded(call: ast.Call) -> Iterator[str]:
    """The module that a call such as `import_module("vr_kernel.tools")` loads."""
    called = call.func
    name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
    if name in _IMPORTERS:
        for given in call.args[:1]:
            if isinstance(given, ast.Constant) and isinstance(given.value, str):
                yield given.value
