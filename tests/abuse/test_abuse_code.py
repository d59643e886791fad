"""No source runs a shell, unpickles, or evaluates what it was given; nobody may silence that."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path
    for pattern in ("src/*", "kernel/src/*", "plugins/*/src/*", "examples/*/src/*")
    for folder in ROOT.glob(pattern)
    for path in folder.rglob("*.py")
)
BANNED_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "webbrowser"}
BANNED_CALLS = {
    "eval", "exec", "compile", "__import__", "os.system", "os.popen", "os.startfile", "os.execv",
    "yaml.load", "yaml.unsafe_load", "subprocess.getoutput", "subprocess.getstatusoutput",
    "asyncio.create_subprocess_shell", "pty.spawn", "code.interact", "joblib.load", "torch.load",
}  # fmt: skip
KEPT_RULES = {
    "S102", "S108", "S301", "S302", "S306", "S307", "S501", "S506", "S602", "S604", "S605", "S609",
}  # fmt: skip
"""Rules of ruff about the same; no source may switch one off."""


def _broken(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            names = []
        yield from (name for name in names if name.partition(".")[0] in BANNED_MODULES)
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name in BANNED_CALLS:
                yield name
            for keyword in node.keywords:
                true = isinstance(keyword.value, ast.Constant) and keyword.value.value is True
                if keyword.arg == "shell" or (keyword.arg == "allow_pickle" and true):
                    yield f"{name}({keyword.arg}=…)"


def test_no_source_runs_what_it_was_given() -> None:
    assert len(SOURCES) > 100
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in SOURCES
        for name in _broken(ast.parse(path.read_text("utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        "import pickle", "from marshal import loads", "import webbrowser as w", "eval('1')",
        "exec(code)", "import os; os.system('x')", "subprocess.run('x', shell=True)",
        "yaml.load(text)", "numpy.load(path, allow_pickle=True)",
        "asyncio.create_subprocess_shell('x')",
    ],
)  # fmt: skip
def test_the_gate_sees_it(code: str) -> None:
    assert list(_broken(ast.parse(code)))


def test_the_rules_of_ruff_are_on_for_every_source() -> None:
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]["lint"]
    assert lint["select"] == ["ALL"]
    assert not [rule for rule in lint["ignore"] for kept in KEPT_RULES if kept.startswith(rule)]
    silenced = {
        pattern: rules
        for pattern, rules in lint["per-file-ignores"].items()
        if any(kept.startswith(rule) for rule in rules for kept in KEPT_RULES)
    }
    assert all(re.search(r"tests|benchmarks", pattern) for pattern in silenced)


def test_no_line_switches_a_rule_off() -> None:
    mark = re.compile(r"#\s*(?:ruff:\s*)?noqa(?::\s*([A-Z0-9, ]+))?")
    found = []
    for path in SOURCES:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            match = mark.search(line)
            if match and (match[1] is None or KEPT_RULES & set(re.findall(r"\w+", match[1]))):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert found == []
