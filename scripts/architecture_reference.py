"""Write the pictures in docs/explanation/architecture.md from the code: who stands on whom.

A room is a folder of the kernel. An arrow goes from a room to another that it imports at run time;
it is left out where a longer way leads there, too.
"""

from __future__ import annotations

import ast
import configparser
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import grimp
from generated_page import FOLDER, cell, publish

ROOT = Path(__file__).parents[1]
KERNEL = ROOT / "kernel" / "src" / "vr_kernel"
PAGE = "../explanation/architecture.md"
BEGIN, END = "<!-- made by `make reference` -->\n", "<!-- the end of it -->\n"
MEMBERS = ("kernel", "server", "cli", "testing", "pages", "plugins/*", ".")
Graph = Mapping[str, set[str]]


def render() -> str:
    """The page with new pictures between the marks."""
    before, _, rest = (FOLDER / PAGE).read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return "".join([before, BEGIN, "\n", "\n".join(_pictures()), "\n", END, after])


def _pictures() -> Iterator[str]:
    yield "Distributions, and what each requires; dashed where an extra brings it:\n"
    yield from _mermaid(_distributions())
    yield "The rooms of the kernel, which are folders:\n"
    graph = _rooms()
    rooms = {name for name in graph if (KERNEL / name).is_dir()}
    yield from _mermaid(f"{a} --> {b}" for a, b in _shortest(_reachable(graph), rooms))
    yield "From top to bottom; lines to the next hundred:\n"
    yield "| room | what is there | modules | lines |\n|---|---|---|---|"
    yield from (_row_of_room(name) for name in _from_top() if name in rooms)
    yield "\nBeside them lies what others import by name from `vr_kernel`, from top to bottom:\n"
    yield "| module | what is there |\n|---|---|"
    yield from (f"| `{n}` | {_said(KERNEL / f'{n}.py')} |" for n in _from_top() if n not in rooms)
    yield ""


def _mermaid(arrows: Iterator[str]) -> Iterator[str]:
    yield "```mermaid\nflowchart TD"
    yield from (f"    {arrow}" for arrow in arrows)
    yield "```\n"


def _distributions() -> Iterator[str]:
    files = [file for name in MEMBERS for file in sorted(ROOT.glob(f"{name}/pyproject.toml"))]
    projects = [tomllib.loads(file.read_text("utf-8"))["project"] for file in files]
    names = {project["name"] for project in projects}
    for project in projects:
        extras = [need for needs in _extras(project).values() for need in needs]
        required = {name for name in names if _names(project["dependencies"], name)}
        optional = {name for name in names if _names(extras, name)} - required
        for name in sorted(required):
            yield f"{project['name']} --> {name}"
        for name in sorted(optional - {project["name"]}):
            yield f"{project['name']} -.-> {name}"


def _extras(project: Mapping[str, dict[str, list[str]]]) -> dict[str, list[str]]:
    return project.get("optional-dependencies", {})


def _names(requirements: list[str], name: str) -> bool:
    return any(each.startswith((f"{name}>", f"{name}[")) for each in requirements)


def _rooms() -> dict[str, set[str]]:
    """Rooms and the modules beside them, each with those that it imports."""
    graph = grimp.build_graph("vr_kernel", exclude_type_checking_imports=True, cache_dir=None)
    rooms = sorted(graph.find_children("vr_kernel"))
    for room in rooms:
        graph.squash_module(room)
    return {
        _short(room): {
            _short(other)
            for other in graph.find_modules_directly_imported_by(room)
            if other in rooms and other != room
        }
        for room in rooms
    }


def _short(module: str) -> str:
    return module.removeprefix("vr_kernel.")


def _reachable(graph: Graph) -> dict[str, set[str]]:
    """Each with everything that it leads to."""
    found = {name: set(others) for name, others in graph.items()}
    for _ in graph:  # a step further each time
        found = {n: others.union(*(found[o] for o in others)) for n, others in found.items()}
    return found


def _shortest(reachable: Graph, among: set[str]) -> Iterator[tuple[str, str]]:
    """The arrows among some, without those that a longer way replaces."""
    for name in sorted(among):
        below = reachable[name] & among
        indirect = set().union(*(reachable[other] for other in below))
        yield from ((name, other) for other in sorted(below - indirect))


def _from_top() -> list[str]:
    parser = configparser.ConfigParser()
    parser.read(ROOT / ".importlinter", encoding="utf-8")
    layers = parser["importlinter:contract:kernel-layers"]["layers"].splitlines()
    return [name for layer in layers for name in sorted(layer.replace("|", " ").split())]


def _row_of_room(name: str) -> str:
    files = sorted((KERNEL / name).rglob("*.py"))
    lines = sum(len(file.read_text("utf-8").splitlines()) for file in files)
    modules = len([file for file in files if file.name != "__init__.py"])
    said = _said(KERNEL / name / "__init__.py")
    return f"| `{name}/` | {said} | {modules} | {round(lines, -2)} |"


def _said(file: Path) -> str:
    docstring = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return cell(docstring.split("\n\n")[0])


if __name__ == "__main__":
    publish(PAGE, render)
