"""A path typed at a terminal is the person's own; a server asks for leave."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_fork import run_vr
from installation import SERVE
from vr_kernel import Code, VrError
from vr_server import connect

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
CAPTIONS = "1\n00:00:01,000 --> 00:00:03,000\nThese captions lie beside the video.\n"


@pytest.fixture
def elsewhere(tmp_path: Path, talk: Path) -> Path:
    """A folder that nobody allowed, with a video, its captions, and links to both from beside."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    shutil.copyfile(talk, folder / "talk.mp4")
    (folder / "talk.srt").write_text(CAPTIONS, "utf-8")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "link.mp4").symlink_to(folder / "talk.mp4")
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ["video", "transcript", "{}/talk.mp4"],
        pytest.param(
            ["video", "transcript", "--file-path", "../elsewhere/talk.mp4"], marks=pytest.mark.slow
        ),
        pytest.param(["call", "video_transcript", "file_path={}/talk.mp4"], marks=pytest.mark.slow),
        ["video", "transcript", "link.mp4"],
    ],
)
def test_a_typed_path_is_read(
    elsewhere: Path, fresh_environment: Callable[..., dict[str, str]], words: list[str]
) -> None:
    typed = [word.format(elsewhere) for word in words]
    done = run_vr(fresh_environment(), elsewhere.parent / "work", *typed, "--json")
    assert done.code == 0, done.stderr
    assert done.data["segments"][0]["text"] == "These captions lie beside the video."


@pytest.mark.parametrize(
    "words",
    [
        ["content", "analyze", "{}"],
        ["content", "batch-analyze", "{}"],
        ["content", "analyze", "--text", "The captions lie beside the video, in the same folder."],
    ],
    ids=["a folder as one document", "a folder of documents", "a text"],
)
def test_a_document_may_be_a_folder_or_a_text(
    elsewhere: Path, fresh_environment: Callable[..., dict[str, str]], words: list[str]
) -> None:
    typed = [word.format(elsewhere) for word in words]
    done = run_vr(fresh_environment(), elsewhere.parent / "work", *typed, "--json")
    assert done.code == 0, done.stderr
    assert "captions lie beside the video" in str(done.data)


def test_a_document_that_was_read_is_listed(
    elsewhere: Path, fresh_environment: Callable[..., dict[str, str]]
) -> None:
    environment, work = fresh_environment(), elsewhere.parent / "work"
    assert run_vr(environment, work, "content", "read", f"{elsewhere}/talk.srt").code == 0
    listed = run_vr(environment, work, "content", "list", "--json")
    assert [it["kinds"] for it in listed.data["sources"]] == [{"DocumentPassages": 1}]


@pytest.mark.slow
def test_a_server_reads_no_path_of_a_client_and_says_how_it_would(
    elsewhere: Path, fresh_environment: Callable[..., dict[str, str]]
) -> None:
    async def ask() -> VrError:
        work = elsewhere.parent / "work"
        async with connect(SERVE, env=fresh_environment(), cwd=work) as client:
            with pytest.raises(VrError) as refused:
                await client.call("video_transcript", file_path=str(elsewhere / "talk.mp4"))
        return refused.value

    error = asyncio.run(ask())
    assert error.code is Code.NOT_ALLOWED
    assert "vr init --folder" in error.hint
