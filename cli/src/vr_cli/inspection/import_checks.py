"""Checks of imports: a plugin imports only public names of the kernel, which change with notice."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vr_kernel import Diagnosis

from vr_cli.inspection.findings import Finding, or_ok

_CHECK = "public names"
ROOT = "vr_kernel"


def check_imports(module: str, source: Path | None) -> Iterator[Finding]:
    """Name each import of the kernel's inside, with the public name to use where there is one.

    Args:
        module: the plugin's module.
        source: the folder its package lies in; empty for an installed package.
    """
    found = {
        (name, attribute): f"{file.name}, line {line}"
        for file in _files(module.partition(".")[0], source)
        for name, attribute, line in _imports(file)
        if not _is_public(name, attribute)
    }
    yield from or_ok(_CHECK, (_finding(*names, place) for names, place in found.items()), "only")


def _finding(module: str, attribute: str, place: str) -> Finding:
    private = f"{module}.{attribute}" if _is_face(module) else module
    what = f"{private} is private ({place})."
    home = _public_home(module, attribute)
    fix = (
        f"Import {attribute} from {home}."
        if home
        else "Use a public name: the page of the kernel in the reference lists them all."
    )
    return _CHECK, Diagnosis.warning(what, fix)


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
    """Module, name and line of each import of the kernel; the name is empty for a module."""
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
        else:
            continue
        for module, name in names:
            if module.partition(".")[0] == ROOT:
                yield module, name, node.lineno


def _is_public(module: str, name: str) -> bool:
    if not _is_face(module):
        return False
    return not name or name in _names(module) or _is_face(f"{module}.{name}")


@cache
def _names(module: str) -> frozenset[str]:
    """The public names of a package of the kernel; none for a module, which is private."""
    try:
        home: Any = import_module(module)
    except ImportError:
        return frozenset()
    return frozenset(getattr(home, "__all__", ())) if hasattr(home, "__path__") else frozenset()


def _is_face(module: str) -> bool:
    """True for the kernel and for those of its packages that have public names."""
    return module.count(".") <= 1 and bool(_names(module))


def _public_home(module: str, name: str) -> str:
    """The package from which the same object is public, empty when it is nowhere."""
    if not name:
        return ""
    try:
        meant = getattr(import_module(module), name)
    except (ImportError, AttributeError):
        return ""
    rooms = sorted(path.parent.name for path in Path(_folder()).glob("*/__init__.py"))
    homes = [ROOT, *(f"{ROOT}.{room}" for room in rooms)]
    for home in homes:
        if name in _names(home) and getattr(import_module(home), name) is meant:
            return home
    return ""


def _folder() -> str:
    return str(Path(str(import_module(ROOT).__file__)).parent)
