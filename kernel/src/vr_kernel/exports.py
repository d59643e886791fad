"""Names of packages and objects that are imported, or made, at first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MethodType
from typing import Any, TypeVar, cast

T = TypeVar("T")


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


class Deferred:
    """Makes an object when it is first used, so that nothing is imported for it before.

    Args:
        make: makes it.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the object; methods are found without this from then on."""
        known = vars(self)
        made = known.get("_made") or known.setdefault("_made", self._make())
        value = getattr(made, name)
        if isinstance(value, MethodType):
            known[name] = value
        return value

    def close(self) -> None:
        """Close the object, if it was ever used."""
        if "_made" in vars(self):
            self._made.close()


def deferred(make: Callable[[], T]) -> T:
    """Return what stands for an object that is made when it is first used."""
    return cast("T", Deferred(make))
