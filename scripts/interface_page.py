"""The public names of a module as a page: signatures and docstrings, read from the sources."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe
from generated_page import cell

ROOT = Path(__file__).parents[1]
SOURCES = [ROOT / "kernel" / "src", ROOT / "testing" / "src"]
WIDTH = 88
DATA = {"BaseModel", "NamedTuple", "Protocol"}
"""Bases of classes whose attributes are what matters about them."""


class Faults(logging.Handler):
    """Messages of griffe on docstrings: each is an error."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        self.said.append(record.getMessage())


def load_package(name: str) -> Any:
    """A package with all that is in it; it ends the program when a docstring is faulty."""
    loader = griffe.GriffeLoader(search_paths=SOURCES, docstring_parser="google")
    package = loader.load(name)
    if name != "vr_kernel":
        loader.load("vr_kernel")
    loader.resolve_aliases(implicit=True, external=False)
    return package


def public_names(home: Any) -> dict[str, Any]:
    """The names that a package lists, in the order of the alphabet, with what defines each."""
    found = {name: home[name] for name in sorted(str(export) for export in home.exports or ())}
    return {name: each.final_target if each.is_alias else each for name, each in found.items()}


def rooms(package: Any) -> dict[str, Any]:
    """The packages below a package that list names themselves."""
    below = {name: each for name, each in package.modules.items() if public_names(each)}
    return dict(sorted(below.items()))


def interface(module: str, head: str) -> str:
    """The whole page of a package: its names, then those of its rooms."""
    faults = Faults()
    logging.getLogger("griffe").addHandler(faults)
    package = load_package(module)
    lines = [head]
    for name, found in public_names(package).items():
        lines += [f'<a id="{module}.{name}"></a>\n', f"## {name}\n", *_entry(found, name, "##")]
    for room, home in rooms(package).items():
        lines += [f"## In `{module}.{room}`\n", *_docstring(home)]
        for name, found in public_names(home).items():
            lines += [f'<a id="{module}.{room}.{name}"></a>\n', f"### {name}\n"]
            lines += _entry(found, name, "###")
    lines += _other_types(package)
    if faults.said:
        sys.exit("\n".join(faults.said))
    return "\n".join(lines).rstrip() + "\n"


def _entry(found: Any, name: str, level: str) -> Iterator[str]:
    """A name with what it is, and with what is in it."""
    if found.is_attribute:
        yield _code(f"{name} = {found.value}")
        yield from _docstring(found)
        return
    kind = "class " if found.is_class else _kind(found)
    yield _code(kind + (found.signature(name=name) or name))
    yield from _docstring(found)
    if found.is_class:
        yield from _members(found, name, level)


def _other_types(package: Any) -> Iterator[str]:
    """Types that signatures name beside the public names."""
    homes = [package, *rooms(package).values()]
    shown = [each for home in homes for each in public_names(home).values()]
    known = {each.path for each in shown}
    others: dict[str, Any] = {}
    for found in shown:
        others |= {path: each for path, each in _named_in(found, package) if path not in known}
    if others:
        yield "## Other types in signatures\n"
        yield "Nobody has to import them: such values are handed over, or given as they are.\n"
    for found in sorted(others.values(), key=lambda each: str(each.name)):
        yield f"### {found.name}\n"
        if found.is_class:
            yield from _docstring(found)
            if "dataclass" in found.labels or {str(base) for base in found.bases} & DATA:
                yield from _values(found)
        else:
            yield from _entry(found, found.name, "###")


def _named_in(found: Any, package: Any) -> Iterator[tuple[str, Any]]:
    """The types of this project that the signature and members of a name have, with their paths."""
    parts = [found]
    if found.is_class:
        members = {name: m for name, m in found.members.items() if not m.is_alias}
        parts += [m for name, m in members.items() if name == "__call__" or name[0] != "_"]
    for part in parts:
        if part.is_class and part is not found:
            continue
        used = [p.annotation for p in getattr(part, "parameters", ())]
        for expression in [*used, getattr(part, "annotation", None)]:
            for path in _paths(expression):
                each = _defined(path, package)
                if each is not None:
                    yield each.path, each


def _paths(expression: Any) -> Iterator[str]:
    if isinstance(expression, griffe.Expr):
        for each in expression.iterate(flat=True):
            if isinstance(each, griffe.ExprName):
                yield each.canonical_path


def _defined(path: str, package: Any) -> Any:
    """A class or an alias of types of this project; None for anything else."""
    home, _, inner = path.partition(".")
    try:
        found = package.modules_collection[home][inner]
    except KeyError:
        return None
    found = found.final_target if found.is_alias else found
    is_variable = found.is_attribute and str(found.value).startswith("TypeVar(")
    return found if (found.is_class or found.is_attribute) and not is_variable else None


def _members(found: Any, name: str, level: str) -> Iterator[str]:
    yield from _values(found)
    public = [m for m in found.members.values() if not m.name.startswith("_") and not m.is_alias]
    called = found.members.get("__call__")
    methods = [m for m in (called, *public) if m is not None and m.is_function]
    for method in methods:
        if not method.name.startswith("test_"):
            yield f"{level}# {name}.{method.name}\n"
            yield _code(_kind(method) + method.signature())
            yield from _docstring(method)
    if tests := [m for m in methods if m.name.startswith("test_")]:
        yield "\n".join(["| test | |", "|---|---|", *(_row(test) for test in tests), ""])


def _values(found: Any) -> Iterator[str]:
    """A table of the attributes of a class that are not explained as its parameters."""
    public = [m for m in found.members.values() if not m.name.startswith("_") and not m.is_alias]
    given = {parameter.name for parameter in found.parameters}
    values = [m for m in public if m.is_attribute and (m.docstring or m.name not in given)]
    if rows := [f"| `{m.name}` | {_type(m)} | {cell(_first(m))} |" for m in values]:
        yield "\n".join(["| attribute | type | |", "|---|---|---|", *rows, ""])


def _row(test: Any) -> str:
    return f"| `{test.name}` | {cell(_first(test))} |"


def _type(attribute: Any) -> str:
    shown = attribute.annotation if attribute.annotation is not None else attribute.value
    return f"`{cell(str(shown))}`"


def _first(found: Any) -> str:
    """The first paragraph of a docstring."""
    return " ".join(found.docstring.value.split("\n\n")[0].split()) if found.docstring else ""


def _docstring(found: Any) -> Iterator[str]:
    for section in found.docstring.parsed if found.docstring else ():
        if section.kind is griffe.DocstringSectionKind.text:
            yield f"{section.value.replace('```python', '```text')}\n"  # a sketch, not to be run
        elif section.kind is griffe.DocstringSectionKind.examples:
            yield "\n".join(text for _, text in section.value) + "\n"
        else:
            yield f"{section.kind.value.capitalize()}:\n"
            yield "\n".join(f"- {_item(item)}" for item in section.value) + "\n"


def _item(item: Any) -> str:
    """A parameter by its name, what is raised or returned by its type."""
    name = getattr(item, "name", "") or item.annotation
    text = " ".join(item.description.split())
    return f"`{name}`: {text}" if name else text


def _kind(function: Any) -> str:
    return "async def " if "async" in function.labels else "def "


def _code(text: str) -> str:
    return f"```text\n{_wrapped(text)}\n```\n"


def _wrapped(text: str) -> str:
    """A signature with a line for each parameter, when one line does not hold it."""
    if len(text) <= WIDTH or "(" not in text:
        return text
    name, _, rest = text.partition("(")
    depth, parts = 0, [""]
    for letter in rest:
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            break
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    inner = "".join(f"    {part.strip()},\n" for part in parts)
    return f"{name}(\n{inner}{rest[len(','.join(parts)) :]}"
