"""Worker processes: what a hostile file does to its parser is done to nobody else."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from vr_kernel import Code, VrError
from vr_plugin_content.parsing.parser import Parser, ParseTask
from vr_plugin_content.settings import ContentSettings

HERE = Path(__file__).parent
POSIX = os.name != "nt"


def harm(said: str, work: str = "parse") -> ParseTask:
    """A task for a parser that does what the file says."""
    return ParseTask("hostile_formats.harm", work, {"name": "a.txt"}, body=said.encode())


@pytest.fixture
def open_parser(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], Parser]:
    """Open a parser with one worker at a time, little memory and so many seconds for a file."""
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.setenv("GEMINI_API_KEY", "not-for-parsers")

    def opened(seconds: float) -> Parser:
        settings = ContentSettings(
            parsers=1, parser_memory_mb=512, parser_timeout_s=seconds, max_chars=1_000_000
        )
        return Parser(SimpleNamespace(settings=settings))  # type: ignore[arg-type]

    return opened


@pytest.fixture
async def parser(open_parser: Callable[[float], Parser]) -> AsyncIterator[Parser]:
    """A parser with time enough."""
    async with aclosing(open_parser(60)) as opened:
        yield opened


async def pid_of_worker(parser: Parser) -> int:
    return int((await parser.run(harm("tell")))["title"])


@pytest.mark.parametrize(
    ("said", "code", "category"),
    [
        ("hang", Code.TOO_LARGE, "PARSER_TIMEOUT"),
        ("crash", Code.UNSUPPORTED, "DOCUMENT_DAMAGED"),
        ("flood", Code.UNSUPPORTED, "DOCUMENT_DAMAGED"),
        pytest.param(
            "grow",
            Code.TOO_LARGE,
            "PARSER_MEMORY",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="no limit of memory here"),
        ),
    ],
)
async def test_harm_is_a_typed_error_and_the_next_file_is_read(
    open_parser: Callable[[float], Parser], said: str, code: Code, category: str
) -> None:
    async with aclosing(open_parser(4 if said == "hang" else 60)) as parser:
        before = await pid_of_worker(parser)
        with pytest.raises(VrError) as caught:
            await parser.run(harm(said))
        assert (caught.value.code, caught.value.category) == (code, category)
        assert caught.value.hint
        assert await pid_of_worker(parser) != before or said == "grow"


async def test_a_worker_serves_several_files_and_gets_no_key(parser: Parser) -> None:
    first = await parser.run(harm("print"))
    second = await parser.run(harm("print"))
    assert first == second
    names = first["pieces"][0]["text"].split(",")
    assert "GEMINI_API_KEY" not in names
    assert "PATH" in names


async def test_a_library_that_ends_the_process_is_damage(parser: Parser) -> None:
    with pytest.raises(VrError, match="cannot be read"):
        await parser.run(harm("bye", "exits"))


async def test_a_file_that_is_replaced_after_the_check_is_not_read(
    parser: Parser, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("checked")
    seen = path.stat()
    identity = [seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns]
    asked: dict[str, Any] = {"name": "a.txt"}
    task = ParseTask("plain_text", "parse", asked, path=str(path), identity=identity)
    assert (await parser.run(task))["pieces"][0]["text"] == "checked"
    other = tmp_path / "b.txt"
    other.write_text("swapped in")
    other.replace(path)
    with pytest.raises(VrError) as caught:
        await parser.run(task)
    assert caught.value.category == "FILE_CHANGED"


@pytest.mark.skipif(not POSIX, reason="processes are told apart otherwise")
async def test_a_cancelled_task_ends_its_worker(parser: Parser) -> None:
    pid = await pid_of_worker(parser)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(parser.run(harm("hang")), 0.3)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
