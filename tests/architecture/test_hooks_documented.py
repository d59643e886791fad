"""The plugin author's interface is documented as it is, and every hook is tested."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
import vr_kernel
from vr_kernel import Config, Kernel, hookspecs, load_config, views
from workspace_tree import CLI, KERNEL, ROOT, SERVER, Module

HOOKS = {name: value for name, value in vars(hookspecs).items() if name.startswith("vr_")}
PAGE = ROOT / "docs" / "hooks.md"
API_PAGE = ROOT / "docs" / "reference" / "api.md"
REFERENCE = ROOT / "docs" / "reference" / "kernel.md"


def test_every_hook_is_documented_with_its_exact_arguments() -> None:
    documented = re.findall(r"^## `(.+)`$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    declared = [f"{name}({_arguments(hook)})" for name, hook in HOOKS.items()]
    assert documented == declared


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_has_a_test(hook: str) -> None:
    """Some test of the kernel or of a front implements the hook, or calls it by name."""
    modules = [module for module in _modules_of_tests() if hook in module.text]
    assert any(hook in _names(module.tree) for module in modules)


async def test_the_examples_are_a_plugin(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    page = PAGE.read_text(encoding="utf-8")
    plugin = ModuleType("documented_weather")
    monkeypatch.setitem(sys.modules, plugin.__name__, plugin)
    for block in re.findall(r"^```python\n(.+?)^```$", page, re.MULTILINE | re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), vars(plugin))
    async with Kernel.open(config, {"weather": plugin}) as kernel:
        (_, weather) = kernel.plugins()
        assert (weather.state, weather.reason) == ("loaded", "")
        report = await kernel.call("weather_now", city="Lisbon")
        assert report.model_dump() == {"city": "Lisbon", "celsius": 21.5}
        assert [command.path for command in kernel.commands] == [("weather", "fetch-stations")]
        assert await kernel.services.journal.changes(0, 10)
    assert {name for name in vars(plugin) if name.startswith("vr_")} == set(HOOKS)


def test_every_public_name_is_in_the_reference_and_the_overview_names_no_other() -> None:
    headings = re.findall(r"^## (\w+)$", REFERENCE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(headings) == sorted(vr_kernel.__all__), "make reference"
    cells = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", API_PAGE.read_text("utf-8"), re.MULTILINE)
    offered = {*vr_kernel.__all__, *views.__all__}
    assert set(re.findall(r"\w+", " ".join(cells))) <= offered


@pytest.fixture
def config(tmp_path: Path) -> Config:
    folders = {f"VR_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "STATE", "CACHE")}
    return load_config(folders, working_folder=tmp_path)


def _arguments(hook: object) -> str:
    return ", ".join(inspect.signature(hook).parameters)


@cache
def _modules_of_tests() -> list[Module]:
    folders = [each.folder / "tests" for each in (KERNEL, SERVER, CLI)]
    return [Module(path) for folder in folders for path in folder.rglob("*.py")]


def _names(tree: ast.Module) -> set[str]:
    """Names of functions, and texts, that stand in code; a comment does not count."""
    named = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return named | {text for text in texts if isinstance(text, str)}
