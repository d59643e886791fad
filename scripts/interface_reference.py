"""Write docs/reference/interface.txt: every public name of the kernel, a line for each part.

A change of this file is a change of what plugins are written against, and has its entry in
kernel/CHANGELOG.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from generated_page import publish
from interface_page import load_package, public_names, rooms

CALLED = {"__init__", "__call__"}
"""Names with underscores that are part of how a class is used."""


def render() -> str:
    """All names, then those of each room."""
    package = load_package("vr_kernel")
    places = {"vr_kernel": package}
    places |= {f"vr_kernel.{name}": home for name, home in rooms(package).items()}
    lines = [line for place, home in places.items() for line in _place(place, home)]
    return "\n".join(lines) + "\n"


def _place(place: str, home: Any) -> Iterator[str]:
    for name, found in public_names(home).items():
        yield from _lines(f"{place}.{name}", found)


def _lines(path: str, found: Any) -> Iterator[str]:
    if found.is_class:
        bases = ", ".join(str(base) for base in found.bases)
        yield f"class {path}({bases})" if bases else f"class {path}"
        for name, member in sorted(found.all_members.items()):
            if (name in CALLED or not name.startswith("_")) and not member.is_alias:
                yield from _lines(f"{path}.{name}", member)
    elif found.is_function:
        labels = sorted(found.labels & {"async", "classmethod", "staticmethod"})
        yield f"{' '.join([*labels, path])}{found.signature().removeprefix(found.name)}"
    else:
        annotation = "" if found.annotation is None else f": {found.annotation}"
        is_declared = found.parent.is_module or "class-attribute" in found.labels
        value = f" = {found.value}" if is_declared and found.value is not None else ""
        yield f"{path}{annotation}{value}"


if __name__ == "__main__":
    publish("interface.txt", render, "say it in kernel/CHANGELOG.md under Unreleased, then ")
