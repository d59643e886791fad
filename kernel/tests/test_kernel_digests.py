"""The identity of a file's content: right, remembered, and never in the way of the loop."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from vr_kernel import Kernel, load_config

GIB = 1 << 30
BLOCKED_S = 0.05
TICK_S = 0.002
Digest = Callable[[Path], Awaitable[str]]


@pytest.fixture
async def kernel(start: Any, tmp_path: Path) -> Kernel:
    return await start(roots=[tmp_path])


@pytest.fixture
def digest(kernel: Kernel) -> Digest:
    async def of(path: Path) -> str:
        with kernel.services.policy.open_file(path) as file:
            return await kernel.services.digests.sha256(file)

    return of


@pytest.mark.parametrize("size", [0, 1, 1000, (1 << 18) - 1, 1 << 18, (1 << 20) + 7])
async def test_it_is_the_digest_of_the_whole_content(
    digest: Digest, tmp_path: Path, size: int
) -> None:
    content = os.urandom(size)
    file = tmp_path / "file"
    file.write_bytes(content)
    for _ in range(2):
        assert await digest(file) == hashlib.sha256(content).hexdigest()


async def test_where_the_file_was_read_to_does_not_matter(kernel: Kernel, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"some content")
    for _ in range(2):
        with kernel.services.policy.open_file(tmp_path / "file") as file:
            file.read(5)
            assert (
                await kernel.services.digests.sha256(file)
                == hashlib.sha256(b"some content").hexdigest()
            )
            assert file.read() == b"some content"


async def test_changed_content_is_hashed_again(digest: Digest, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"first content")
    before = await digest(file)
    stamp = file.stat().st_mtime_ns
    file.write_bytes(b"other content")
    os.utime(file, ns=(stamp + 1_000_000, stamp + 1_000_000))
    assert await digest(file) == hashlib.sha256(b"other content").hexdigest() != before


async def test_another_size_is_hashed_again(digest: Digest, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"first content")
    await digest(file)
    stamp = file.stat().st_mtime_ns
    file.write_bytes(b"longer first content")
    os.utime(file, ns=(stamp, stamp))
    assert await digest(file) == hashlib.sha256(b"longer first content").hexdigest()


async def test_another_file_in_its_place_is_hashed_again(digest: Digest, tmp_path: Path) -> None:
    file, other = tmp_path / "file", tmp_path / "other"
    file.write_bytes(b"first content")
    other.write_bytes(b"other content")
    await digest(file)
    stamp = file.stat().st_mtime_ns
    os.utime(other, ns=(stamp, stamp))
    other.replace(file)
    assert await digest(file) == hashlib.sha256(b"other content").hexdigest()


@pytest.mark.slow
async def test_a_file_of_one_gigabyte_is_hashed_once_and_the_loop_goes_on(
    start: Any, digest: Digest, tmp_path: Path
) -> None:
    file = tmp_path / "sparse"
    with file.open("wb") as sparse:
        sparse.truncate(GIB)
    hashing = asyncio.ensure_future(digest(file))
    began, blocked, late = time.perf_counter(), 0.0, 0.0
    while not hashing.done():
        cpu, wall = time.thread_time(), time.perf_counter()
        await asyncio.wait({hashing}, timeout=TICK_S)
        blocked = max(blocked, time.thread_time() - cpu)
        late = max(late, time.perf_counter() - wall)
    first = time.perf_counter() - began
    assert blocked < BLOCKED_S  # processor time of the loop's thread: other programs do not count
    assert late < max(BLOCKED_S, first / 2)

    again = await _fastest(digest, file)
    assert again * 50 <= first
    later = await start(roots=[tmp_path])
    with later.services.policy.open_file(file) as opened:
        assert await later.services.digests.sha256(opened) == await hashing
    assert await hashing == "49bc20df15e412a64472421e13fe86ff1c5165e18b2afccf160d4dc19fe68a14"


async def _fastest(digest: Digest, file: Path) -> float:
    times = []
    for _ in range(3):
        began = time.perf_counter()
        await digest(file)
        times.append(time.perf_counter() - began)
    return min(times)


async def test_without_a_place_to_remember_it_is_right_all_the_same(
    start: Any, environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "blocked").write_text("in the way")
    blocked = environ | {"VR_CACHE_DIR": str(tmp_path / "blocked")}
    kernel = await start(config=load_config(blocked, working_folder=tmp_path), roots=[tmp_path])
    for content in (b"one", b"two"):
        (tmp_path / "file").write_bytes(content)
        with kernel.services.policy.open_file(tmp_path / "file") as file:
            assert await kernel.services.digests.sha256(file) == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("damage", [b"", b"no database", os.urandom(5000)])
async def test_a_damaged_memory_is_made_anew(
    start: Any, digest: Digest, kernel: Kernel, tmp_path: Path, damage: bytes
) -> None:
    (tmp_path / "file").write_bytes(b"content")
    await digest(tmp_path / "file")
    await kernel.aclose()
    for memory in kernel.config.paths.cache.glob("digests.db*"):
        memory.write_bytes(damage)
    for _ in range(2):
        assert await digest(tmp_path / "file") == hashlib.sha256(b"content").hexdigest()


async def test_files_hashed_at_once_do_not_mix(digest: Digest, tmp_path: Path) -> None:
    contents = {tmp_path / str(number): os.urandom(100_000 + number) for number in range(20)}
    for path, content in contents.items():
        path.write_bytes(content)
    found = await asyncio.gather(*(digest(path) for path in contents for _ in range(2)))
    expected = [hashlib.sha256(content).hexdigest() for content in contents.values()]
    assert found == [value for value in expected for _ in range(2)]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
async def test_a_name_that_is_no_unicode_is_a_name(digest: Digest, tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"\xff\xfe.mp4")
    file.write_bytes(b"content")
    for _ in range(2):
        assert await digest(file) == hashlib.sha256(b"content").hexdigest()
