from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest
from videokit import open_kernel
from vr_plugin_video import plugin

HEAVY = ("av", "numpy", "PIL", "faster_whisper", "huggingface_hub", "onnxruntime", "pysubs2")


def test_importing_the_plugin_imports_no_media_library():
    program = (
        "import sys, vr_plugin_video.plugin as plugin\n"
        "plugin.vr_tools(); plugin.vr_settings(); plugin.vr_providers()\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


async def test_tools_kinds_and_commands_are_there(tmp_path):
    async with open_kernel(tmp_path) as kernel:
        tools = [name for name in kernel.tools if name.startswith("video_")]
        commands = {command.path: command.target for command in kernel.commands}
        status = next(status for status in kernel.plugins() if status.name == "video")
    assert {"video_analyze", "video_scenes", "video_transcript"} < set(tools)
    assert status.reason == ""
    module, _, attribute = commands["video", "fetch-models"].partition(":")
    assert getattr(import_module(module), attribute).name == "fetch-models"


async def test_what_an_assistant_could_only_guess_is_described(tmp_path):
    async with open_kernel(tmp_path) as kernel:
        schemas = {name: tool.input_schema["properties"] for name, tool in kernel.tools.items()}
    guessed = {"instruction", "engine", "fps", "detail", "max_scenes", "glob_pattern", "cursor"}
    for name in (name for name in schemas if name.startswith("video_") and "list" not in name):
        taken = schemas[name]
        assert all(taken[each].get("description") for each in guessed & set(taken)), name
        choice = {"url", "file_path"} if "file_path" in taken else {"directory", "url"} & set(taken)
        if len(choice) == 2:
            said = " ".join(taken[each]["description"] for each in choice)
            assert "exactly one of" in said, name


def test_every_record_field_that_carries_meaning_is_searched():
    kinds = {kind.name: kind for kind in plugin.vr_record_kinds()}
    analyses, segments = kinds["VideoAnalyses"], kinds["VideoSegments"]
    embedded = {field.name for field in analyses.fields if field.vectorised}
    assert embedded == {"instruction", "title", "summary", "key_points"}
    assert {field.name for field in segments.fields if field.searchable} == {"title", "text"}
    assert (analyses.rerank, segments.rerank) == ("summary", "text")
    assert segments.locator == ("start", "end")


async def test_settings_are_checked(tmp_path):
    async with open_kernel(tmp_path, ocr="off", max_scenes="3") as kernel:
        assert "video_scenes" in kernel.tools
    for bad in ({"threads": "0"}, {"language": "English"}, {"max_scenes": "1000"}, {"typo": "1"}):
        async with open_kernel(tmp_path, **bad) as kernel:
            assert "video_scenes" not in kernel.tools


async def test_true_and_false_turn_reading_on_and_off(tmp_path):
    settings = plugin.vr_settings()
    assert settings.model_validate({"ocr": False}).model_dump()["ocr"] == "off"
    assert settings.model_validate({"ocr": True}).model_dump()["ocr"] == "on"
    with pytest.raises(ValueError, match="ocr"):
        settings.model_validate({"ocr": 3})
