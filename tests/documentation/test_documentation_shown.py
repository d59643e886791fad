"""The reference shows of each tool what a person sees of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from shown_calls import FILES, TOOLS, all_shown
from vr_kernel import Kernel, load_config

FOLDERS = ("CONFIG", "STATE", "CACHE")


def test_every_tool_is_called_once_and_has_a_file(tmp_path: Path) -> None:
    environ = {f"VR_{name}_DIR": str(tmp_path) for name in FOLDERS}
    config = load_config(environ | {"VR_PLUGINS": "infra,content,video,search,research,knowledge"})
    assert sorted(Kernel(config).tools) == TOOLS
    assert sorted(file.stem for file in FILES.iterdir()) == TOOLS


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_person_sees_what_the_reference_shows(
    talk: Path,
    speech_model: Path,
    tmp_path: Path,
    fresh_environment: Callable[..., dict[str, str]],
) -> None:
    """`UPDATE_GOLDEN=1` writes the files anew, for a change that is meant."""
    environment = fresh_environment(VR_VIDEO__SPEECH_MODEL=str(speech_model))
    shown = all_shown(tmp_path / "desk", talk, environment)
    if os.environ.get("UPDATE_GOLDEN"):
        FILES.mkdir(exist_ok=True)
        for tool, text in shown.items():
            (FILES / f"{tool}.txt").write_text(text, "utf-8")
    assert {file.stem: file.read_text("utf-8") for file in FILES.iterdir()} == shown
