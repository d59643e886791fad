"""Packages whose names are imported at first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the `__getattr__` and `__dir__` of a package that imports a name when it is asked for.

    Args:
        package: its `__name__`.
        homes: module below the package -> the names it defines, separated by spaces. A module
            that begins with a dot lies beside the package.
    """
    modules = {name: module for module, names in homes.items() for name in names.split()}
    module_names = vars(sys.modules[package])

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f".{modules[name]}", package), name)
        module_names[name] = value
        return value

    def names() -> list[str]:
        return sorted({*module_names, *modules})

    return load, names
