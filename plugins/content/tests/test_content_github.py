"""Repositories at GitHub: their addresses, the fetch of their archives, and what these may do."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from contentkit import Desk, open_desk
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr
from vr_kernel import READ_ONLY, Call, Code, VrError, hookimpl, tool
from vr_plugin_content.folders.archive import ArchiveBounds, ArchiveFiles
from vr_plugin_content.folders.github import Repository, fetched, parse_github
from vr_plugin_content.folders.listing import Reason
from vr_plugin_content.formats.parsed import ParseError
from vr_plugin_content.settings import ContentSettings
from web_pages import Answer, WebPages

TOKEN = "ghp_an0nymous"
LINK = 0o120777


def zipped(files: dict[str, str | bytes], **modes: int) -> bytes:
    """An archive as GitHub makes it: all below one top folder, which `/` before a name leaves."""
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            info = zipfile.ZipInfo(path[1:] if path.startswith("/") else f"demo-1a2b3c/{path}")
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = modes.get(path, 0o100644) << 16
            archive.writestr(info, content)
    return made.getvalue()


def read(content: bytes, **bounds: int) -> tuple[dict[str, bytes], ArchiveFiles]:
    files = ArchiveFiles(BytesIO(content), ArchiveBounds(**bounds))
    return dict(files), files


@pytest.mark.parametrize(
    ("address", "repository"),
    [
        ("https://github.com/octo/demo", Repository("octo", "demo")),
        ("https://github.com/octo/demo.git", Repository("octo", "demo")),
        ("https://www.github.com/octo/demo/?tab=readme", Repository("octo", "demo")),
        ("https://github.com/octo/demo/tree/v1.2", Repository("octo", "demo", "v1.2")),
        ("https://github.com/octo/demo/blob/main/a.py", None),
        ("https://github.com/octo/demo/pull/3", None),
        ("https://github.com/octo", None),
        ("https://github.com/octo/demo/tree/../../user", None),
        ("https://github.com.example.org/octo/demo", None),
        ("https://gist.github.com/octo/demo", None),
    ],
)
def test_an_address_names_a_repository_or_none(address: str, repository: Repository | None) -> None:
    assert parse_github(address) == repository


def left_in(folder: Path) -> list[Path]:
    return list(folder.rglob("*.zip"))


class Size(BaseModel):
    """The result of the test's tool."""

    size: int


@asynccontextmanager
async def fetching(
    folder: Path, api: WebPages, *more: WebPages, token: str = "", **more_settings: Any
) -> AsyncIterator[Desk]:
    """Open a kernel with a tool that fetches a repository, from servers of this machine."""
    given_settings = ContentSettings(
        github_api=api.url(""), github_token=SecretStr(token), **more_settings
    )

    @tool(effects=READ_ONLY)
    async def own_fetch(call: Call) -> Size:
        """Fetch."""
        services = replace(call.services, settings=given_settings)
        async with fetched(services, Repository("octo", "demo")) as file:
            return Size(size=len(file.read()))

    @hookimpl
    def vr_tools() -> list[object]:
        return [own_fetch]

    hosts = [f"localhost:{it.port}" for it in (api, *more)]
    async with open_desk(
        folder,
        plugins={"own": SimpleNamespace(vr_tools=vr_tools)},
        settings={"kernel.http.allowed_hosts": hosts},
    ) as desk:
        yield desk


ZIPBALL = "/repos/octo/demo/zipball"


async def test_the_token_reaches_github_alone_and_nothing_stays(tmp_path: Path) -> None:
    content = zipped({"a.py": "x = 1\n"})
    with WebPages({"/legacy.zip": Answer(content, "application/zip")}).serving() as files:
        api = WebPages({ZIPBALL: Answer(status=302, location=files.url("/legacy.zip"))})
        with api.serving():
            async with fetching(tmp_path, api, files, token=TOKEN) as desk:
                found = await desk.kernel.call("own_fetch")
                assert found.size == len(content)
    assert api.asked == [ZIPBALL]
    assert api.heads[0]["Authorization"] == f"Bearer {TOKEN}"
    assert files.asked == ["/legacy.zip"]
    assert not any(TOKEN in value for value in files.heads[0].values())
    assert left_in(tmp_path) == []


@pytest.mark.parametrize(
    ("answer", "code", "word"),
    [
        (Answer(b"{}", status=404), Code.NOT_FOUND, "github_token"),
        (Answer(b"{}", status=403), Code.QUOTA, "github_token"),
        (Answer(b"{}", status=429), Code.QUOTA, "github_token"),
        (Answer(b"x" * 1_000_001, "application/zip"), Code.TOO_LARGE, ""),
        (Answer(status=302, location="http://169.254.169.254/"), Code.NOT_ALLOWED, ""),
    ],
    ids=["not there", "forbidden", "too many", "too large", "redirected inward"],
)
async def test_a_refusal_says_what_to_do(
    tmp_path: Path, answer: Answer, code: Code, word: str
) -> None:
    api = WebPages({ZIPBALL: answer})
    with api.serving():
        async with fetching(tmp_path, api, max_file_mb=1) as desk:
            with pytest.raises(VrError) as caught:
                await desk.kernel.call("own_fetch")
    assert caught.value.code is code
    assert caught.value.hint
    assert word in caught.value.hint
    assert left_in(tmp_path) == []


def test_an_archive_is_read_by_the_rules_of_folders() -> None:
    content = zipped(
        {
            "b.py": "b", "a/x.md": "x", "a/y.log": "y", "a/.gitignore": "*.log\n!build/\n",
            "build/c.js": "c", "a/build/d.md": "d", "logo.png": b"\x89PNG\r\n\x1a\n",
            "data": b"\0\1\2", "big.txt": "x" * 2_000_000, "empty.txt": "", ".env": "KEY=1",
        }
    )  # fmt: skip
    found, files = read(content)
    assert list(found) == ["a/.gitignore", "a/build/d.md", "a/x.md", "b.py"]
    assert found["b.py"] == b"b"
    assert files.complete
    assert files.skipped == {
        Reason.IGNORED: 1, Reason.USUAL: 1, Reason.PICTURE: 1, Reason.BINARY: 1,
        Reason.TOO_LARGE: 1, Reason.SECRET: 1,
    }  # fmt: skip


def test_names_that_lead_out_links_and_secrets_are_passed_over() -> None:
    names = ["../out.py", "a/../../out.py", "//etc/passwd", "/C:/out.py", "a\\out.py", "/top.py"]
    content = zipped(
        {**dict.fromkeys(names, "out"), "link.md": "../../etc/passwd", "in.py": "in"},
        **{"link.md": LINK},
    )
    found, files = read(content)
    assert found == {"in.py": b"in"}
    assert files.skipped == {Reason.NAME: len(names), Reason.LINK: 1}


def test_an_encrypted_file_is_passed_over() -> None:
    content = bytearray(zipped({"a.md": "words", "b.md": "words"}))
    at = content.index(b"PK\1\2") + 8
    content[at] |= 1
    found, files = read(bytes(content))
    assert list(found) == ["b.md"]
    assert files.skipped == {Reason.ENCRYPTED: 1}


def test_bombs_are_refused_before_anything_is_unpacked() -> None:
    with pytest.raises(ParseError) as caught:
        read(zipped({f"{number}.txt": b"0" * 1_000_000 for number in range(30)}))
    assert caught.value.category == "ARCHIVE_TOO_LARGE"


def test_a_file_that_holds_more_than_the_directory_tells_is_cut_there() -> None:
    content = bytearray(zipped({"a.md": "word " * 100_000, "b.md": "words"}))
    at = content.index(b"PK\1\2") + 24
    struct.pack_into("<L", content, at, 10)
    found, files = read(bytes(content))
    assert list(found) == ["b.md"]
    assert files.skipped == {Reason.UNREADABLE: 1}


def test_files_that_overlap_are_refused() -> None:
    content = bytearray(zipped({"a.md": "one two three" * 9, "b.md": "words"}))
    at = content.index(b"PK\1\2") + 20
    struct.pack_into("<L", content, at, 100_000)
    with pytest.raises(ParseError):
        read(bytes(content))


def test_the_bounds_cut_a_long_list_of_files() -> None:
    content = zipped({f"{number:04}.md": "words" for number in range(2_000)})
    found, files = read(content, max_files=50)
    assert list(found) == [f"{number:04}.md" for number in range(50)]
    assert not files.complete


def test_a_directory_that_would_fill_memory_is_not_read() -> None:
    """It is not read at all: one that is a little smaller has entries, which are only cut off."""
    entry = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, *[0] * 7, 5, *[0] * 6) + b"a/b.c"
    for count, is_read in ((80_000, True), (100_000, False)):
        directory = entry * count
        end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(directory), 0, 0)
        with nullcontext() if is_read else pytest.raises(ParseError):
            assert read(directory + end, max_files=1)[0] == {}


@given(at=st.integers(0, 400), byte=st.integers(0, 255), end=st.integers(0, 600))
@settings(max_examples=200)
def test_a_damaged_archive_raises_nothing_else(at: int, byte: int, end: int) -> None:
    content = bytearray(zipped({"a.md": "words", ".gitignore": "*.log", "b/c.py": "x = 1"}))
    content[at % len(content)] = byte
    with suppress(ParseError):
        read(bytes(content[: end if end > 500 else len(content)]))
