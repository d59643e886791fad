"""Schemas of tools are made once, and again when anything that they are made of has changed."""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from vr_kernel.signatures.schema_cache import ToolSchemas
from vr_kernel.tools import READ_ONLY, build_tool, tool

SOURCE = """
from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, tool

class Sum(BaseModel):
    total: int

@tool(effects=READ_ONLY)
async def sky_count(call: Call, stars: int = 3) -> Sum:
    "Count stars."
    return Sum(total=stars)

def make():
    @tool(effects=READ_ONLY)
    async def sky_made(call: Call) -> Sum:
        "Made in a function."
        return Sum(total=0)
    return sky_made
"""
Load = Callable[[str], ModuleType]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Writes and imports the package anew."""
    folder = tmp_path / "packages" / "sky_tools"
    folder.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    count = 0

    def written(source: str) -> ModuleType:
        nonlocal count
        count += 1
        path = folder / "__init__.py"
        path.write_text(source)
        os.utime(path, ns=(count, count))
        sys.modules.pop("sky_tools", None)
        importlib.invalidate_caches()
        return importlib.import_module("sky_tools")

    yield written
    sys.modules.pop("sky_tools", None)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file in which schemas are remembered."""
    return tmp_path / "cache" / "schemas.json"


def remember(file: Path, module: ModuleType) -> None:
    """Start for the first time."""
    schemas = ToolSchemas(file)
    build_tool(module.sky_count, "sky", schemas)
    schemas.save()


def test_a_second_start_makes_nothing(file: Path, load: Load) -> None:
    module = load(SOURCE)
    remember(file, module)
    schemas = ToolSchemas(file)
    assert schemas.find(module.sky_count) is not None
    again, anew = build_tool(module.sky_count, "sky", schemas), build_tool(module.sky_count, "sky")
    assert (again.input_schema, again.output_schema) == (anew.input_schema, anew.output_schema)
    assert "signature" not in vars(again)
    assert again.validate({"stars": 4}) == {"stars": 4}
    assert again.result is module.Sum


@pytest.mark.parametrize("elsewhere", [False, True], ids=["its own file", "another file"])
def test_what_has_changed_is_made_again(file: Path, load: Load, elsewhere: bool) -> None:
    module = load(SOURCE)
    remember(file, module)
    if elsewhere:
        (Path(module.__path__[0]) / "deeper").mkdir()
        (Path(module.__path__[0]) / "deeper" / "models.py").write_text("")
    else:
        module = load(SOURCE.replace("stars: int = 3", "stars: str"))
    schemas = ToolSchemas(file)
    assert schemas.find(module.sky_count) is None
    made = build_tool(module.sky_count, "sky", schemas)
    wanted = "integer" if elsewhere else "string"
    assert made.input_schema["properties"]["stars"]["type"] == wanted


def test_they_are_made_again_when_another_distribution_is_upgraded(
    file: Path, load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "site-packages"
    (installed / "models-1.0.dist-info").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(installed))
    module = load(SOURCE)
    remember(file, module)
    assert ToolSchemas(file).find(module.sky_count) is not None
    before = installed.stat().st_mtime_ns
    (installed / "models-1.0.dist-info").rename(installed / "models-1.1.dist-info")
    os.utime(installed, ns=(before + 1, before + 1))
    assert ToolSchemas(file).find(module.sky_count) is None


def test_what_is_no_plain_function_of_a_package_is_not_remembered(file: Path, load: Load) -> None:
    made = load(SOURCE).make()
    schemas = ToolSchemas(file)
    assert build_tool(made, "sky", schemas).name == "sky_made"
    schemas.save()
    assert ToolSchemas(file).find(made) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b'{"a": 1}',
        b'{"a": [1, 2]}',
        b'{"a": [{}, {}]}',
        b"\xff",
        b'{"a": [{"type"',
        b"[" * 50_000,
    ],
)
def test_a_damaged_file_is_left_alone(file: Path, load: Load, content: bytes) -> None:
    module = load(SOURCE)
    file.parent.mkdir()
    file.write_bytes(content)
    schemas = ToolSchemas(file)
    assert schemas.find(module.sky_count) is None
    remember(file, module)
    assert ToolSchemas(file).find(module.sky_count) is not None


def test_a_folder_that_cannot_be_written_is_no_reason_to_fail(file: Path, load: Load) -> None:
    file.parent.write_text("a file is in the way")
    remember(file, load(SOURCE))
    assert not file.exists()


def test_nothing_is_written_when_nothing_is_new(file: Path, load: Load) -> None:
    module = load(SOURCE)
    remember(file, module)
    os.utime(file, ns=(1, 1))
    remember(file, module)
    assert file.stat().st_mtime_ns == 1


def test_schemas_are_made_once_a_process_and_belong_to_one_function(
    load: Load,
) -> None:
    made = load(SOURCE).make()
    first, second = build_tool(made, "one"), build_tool(made, "another")
    assert second.input_schema is first.input_schema
    assert second.output_schema is first.output_schema

    @functools.wraps(made)
    async def sky_wrapped(*values: object) -> object:
        return await made(*values)

    wrapped = build_tool(tool(effects=READ_ONLY)(sky_wrapped), "one")
    assert wrapped.input_schema is not first.input_schema
