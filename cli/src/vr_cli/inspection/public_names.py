"""Public names of our packages: which names they are, and where a private one is public."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

KERNEL = "vr_kernel"
PACKAGES = (KERNEL, "vr_server", "vr_cli")
"""Packages whose inside is checked for."""
MOVED = {
    "vr_kernel.cli": "vr_cli",
    "vr_kernel.client": "vr_server",
    "vr_kernel.server": "vr_server",
    "vr_kernel.testing": "vr_testing",
}
"""Parts of the kernel that are packages of their own today."""
_NAMES_SHOWN = 5
_ABSENT = object()


def is_public(module: str, name: str) -> bool:
    """True when one of our packages offers the name, or the module itself for an empty name."""
    if is_face(module):
        return name in ("", "*") or name in _names(module) or is_face(f"{module}.{name}")
    top = module.partition(".")[0]
    return find_spec(top) is None  # not installed: nothing is known of it


def is_face(module: str) -> bool:
    """True for our packages, and for those of their packages that have public names."""
    return module.count(".") <= 1 and bool(_names(module))


def full_name(module: str, name: str) -> str:
    """The dotted name of an import: of the module, or of what a package offers."""
    return f"{module}.{name}" if name not in ("", "*") and is_face(module) else module


def moved_to(module: str, name: str) -> tuple[str, str]:
    """A part of the kernel that is a package today, and that package; empty when it is not."""
    part = ".".join(full_name(module, name).split(".")[:2])
    return part, MOVED.get(part, "")


def remedy(module: str, name: str) -> str:
    """One sentence: the public name to use in place of a private one."""
    private, top = full_name(module, name), module.partition(".")[0]
    _, package = moved_to(module, name)
    if package:
        return _remedy_of_moved(package, "" if private.endswith(f".{name}") else name)
    home = _home(module, name)
    if home:
        return f"Import {name} from {home}."
    is_whole = private != module or name in ("", "*")
    home, inside = _public_names_of(private) if is_whole else ("", [])
    if inside:
        shown = ", ".join(inside[:_NAMES_SHOWN]) + (", …" if inside[_NAMES_SHOWN:] else "")
        return f"Import what you use of it from {home}: {shown}."
    if top == KERNEL:
        return "Use a public name: the page of the kernel in the reference lists them all."
    return f"Use a public name of {top}, or do without it."


def _remedy_of_moved(package: str, name: str) -> str:
    names = _names(package)
    if name in names or (not names and name not in ("", "*")):
        return f"Import {name} from {package}."
    return f"Import {package}, and of it public names only."


def _home(module: str, name: str) -> str:
    """The package from which a name is public, empty when it is nowhere."""
    try:
        meant = getattr(import_module(module), name, _ABSENT)
    except ImportError:
        meant = _ABSENT
    for home in _homes(module.partition(".")[0]):
        if name in _names(home):
            is_it = meant is _ABSENT or meant is getattr(import_module(home), name)
            return home if is_it else ""
    return ""


def _public_names_of(module: str) -> tuple[str, list[str]]:
    """The package that offers names which a private module defines, and these names.

    Names are found by what their objects say of their module, so constants are left out.
    """
    try:
        inside = vars(import_module(module))
    except ImportError:
        return "", []
    for home in _homes(module.partition(".")[0]):
        face = import_module(home)
        names = [
            name
            for name in _names(home) & inside.keys()
            if getattr(inside[name], "__module__", "") == module
            and inside[name] is getattr(face, name)
        ]
        if names:
            return home, sorted(names)
    return "", []


def _homes(top: str) -> list[str]:
    """A package of ours and the packages in it, of which some have public names."""
    folder = Path(str(import_module(top).__file__)).parent
    rooms = sorted(path.parent.name for path in folder.glob("*/__init__.py"))
    return [top, *(f"{top}.{room}" for room in rooms)]


@cache
def _names(module: str) -> frozenset[str]:
    """The public names of a package; none for a module, which is private."""
    try:
        home: Any = import_module(module)
    except ImportError:
        return frozenset()
    return frozenset(getattr(home, "__all__", ())) if hasattr(home, "__path__") else frozenset()
