"""Every mistake a caller can make with a video gets a typed error that says what to do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from installation import SERVE
from vr_kernel import VrError
from vr_server import connect

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, talk: Path) -> Path:
    """An allowed folder with bad files in it, and a secret outside."""
    inside = tmp_path_factory.mktemp("videos")
    (inside / "empty.mp4").touch()
    (inside / "text.mp4").write_text("This is not a video. " * 200, "utf-8")
    (inside / "notes.pdf").write_bytes(b"%PDF-1.4")
    whole = talk.read_bytes()
    (inside / "talk.mp4").write_bytes(whole)
    (inside / "cut.mp4").write_bytes(whole[: len(whole) * 2 // 3])
    (inside / "folder.mp4").mkdir()
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.mp4").write_bytes(whole)
    (inside / "link.mp4").symlink_to(outside / "secret.mp4")
    return inside


CASES: list[tuple[str, dict[str, Any], str | None]] = [
    ("no such file", {"file_path": "missing.mp4"}, "NOT_FOUND"),
    ("a folder", {"file_path": "folder.mp4"}, "INVALID_INPUT"),
    ("outside", {"file_path": "../outside/secret.mp4"}, "NOT_ALLOWED"),
    ("a link that leads outside", {"file_path": "link.mp4"}, "NOT_ALLOWED"),
    ("the password file", {"file_path": "/etc/passwd"}, "NOT_ALLOWED"),
    ("an empty file", {"file_path": "empty.mp4"}, "INVALID_INPUT"),
    ("text named .mp4", {"file_path": "text.mp4"}, "UNSUPPORTED"),
    ("another kind of file", {"file_path": "notes.pdf"}, "UNSUPPORTED"),
    ("neither", {}, "INVALID_INPUT"),
    ("both", {"file_path": "talk.mp4", "url": "https://youtu.be/dQw4w9WgXcQ"}, "INVALID_INPUT"),
    (
        "reversed times",
        {"file_path": "talk.mp4", "start": "00:40", "end": "00:20"},
        "INVALID_INPUT",
    ),
    ("times outside", {"file_path": "talk.mp4", "start": "59:00"}, "INVALID_INPUT"),
    ("times of no form", {"file_path": "talk.mp4", "start": "soon"}, "INVALID_INPUT"),
    ("an engine without a key", {"file_path": "talk.mp4", "engine": "gemini"}, "AUTH"),
    ("a look-alike", {"url": "https://youtube.com.evil.example/watch?v=dQw4w9WgXcQ"}, None),
    ("YouTube", {"url": "https://www.youtube.com/watch?v=dQw4w9WgXcQ"}, "UNAVAILABLE"),
    ("an unknown argument", {"file_path": "talk.mp4", "instructions": "x"}, "INVALID_INPUT"),
]


@pytest.fixture(scope="module")
def answers(folder: Path, fresh_environment: Callable[..., dict[str, str]]) -> dict[str, Any]:
    """Answers of the server to each case, and the files that it left behind."""
    environment = fresh_environment(VR_ALLOWED_ROOTS=str(folder))
    return asyncio.run(_ask_all(folder, environment))


async def _ask_all(folder: Path, environment: dict[str, str]) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    async with connect(SERVE, env=environment, cwd=folder) as client:
        for name, arguments, _ in CASES:
            try:
                answers[name] = await client.call("video_analyze", **arguments)
            except VrError as error:
                answers[name] = error
        answers["records"] = (await client.call("knowledge_stats"))["total"]
        answers["cached"] = (await client.call("infra_cache"))["total_files"]
        answers["cut"] = await client.call("video_scenes", file_path="cut.mp4", ocr=False)
    return answers


@pytest.mark.parametrize(("name", "code"), [(name, code) for name, _, code in CASES])
def test_each_mistake_is_typed(answers: dict[str, Any], name: str, code: str | None) -> None:
    error = answers[name]
    assert isinstance(error, VrError), error
    if code is None:
        assert error.code.value in {"INVALID_INPUT", "NOT_ALLOWED", "UNAVAILABLE"}
    else:
        assert error.code.value == code, error.message
    assert error.message
    assert error.hint


def test_nothing_is_left_behind(answers: dict[str, Any]) -> None:
    assert answers["records"] == 0
    assert answers["cached"] == 0


def test_a_cut_file_gives_what_is_there(answers: dict[str, Any]) -> None:
    assert answers["cut"]["partial"]
    assert len(answers["cut"]["scenes"]) >= 3
