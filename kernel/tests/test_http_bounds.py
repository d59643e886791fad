"""Bounds of a fetch: bytes as they arrive and as they unpack, and the total time."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from vr_kernel.config.settings import HttpSettings
from vr_kernel.errors import Code, VrError
from vr_kernel.http import Download, Fetcher
from vr_kernel.http.names import ASKED_AT_ONCE
from vr_kernel.log import Log
from waiting import until
from web_service import PUBLIC, Answer, Names, Network, Site, at, fetcher, leads_to, reply

MB = 1_000_000
URL = "http://a.example/"
# 100 MB of zeros in brotli, quality 11.
BROTLI_ZEROS = bytes.fromhex(
    "cbffff3ff82700e2b14020f7fe8fffff7ff04f00c4611180eefd1fffffffe09f0088c30200ddfb3ffeffffc1"
    "3f0110870500baf77ffcffff837f02200e0b0074effff8ffff07ff04401c1600e8defff1ffff0ffe0980382c"
    "00d0bdffe3ffff1ffc1300715800a07bffc7ffff3ff82700e2b00040f7fe8fffff7ff04f00c4610180eefd1f"
    "ffffffe09f0088c30200ddfbbffc07afc33f0110870500bad875"
)


@contextmanager
def memory_below(limit: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < limit
    finally:
        tracemalloc.stop()


def _zeros(window: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, window)
    return b"".join([packer.compress(bytes(MB)) for _ in range(20)]) + packer.flush()


def _packed(coding: str, body: bytes) -> bytes:
    return reply(body, headers={"Content-Encoding": coding})


async def _error(work: object) -> VrError:
    with pytest.raises(VrError) as caught:
        await work  # type: ignore[misc]
    return caught.value


@pytest.mark.parametrize(("coding", "window"), [("gzip", 31), ("deflate", 15), ("deflate", -15)])
async def test_bombs(coding: str, window: int) -> None:
    """20 MB in 20 kB."""
    page = _packed(coding, _zeros(window))
    async with Site({"/": page}).serving() as site:
        with memory_below(10 * MB):
            error = await _error(at(site).fetch(URL, max_bytes=2 * MB))
    assert (error.code, error.category) == (Code.TOO_LARGE, "FILE_TOO_LARGE")


@pytest.mark.parametrize(
    "coding", ["br", "zstd", "gzip, gzip", "gzip, br", "compress", "x", "a\x1b"]
)
async def test_what_was_not_asked_for_is_not_unpacked(coding: str) -> None:
    async with Site({"/": _packed(coding, BROTLI_ZEROS)}).serving() as site:
        with memory_below(50 * MB):
            error = await _error(at(site).fetch(URL, max_bytes=10 * MB))
        assert site.headers()["accept-encoding"] == "gzip, deflate"
    assert (error.code, error.category) == (Code.UNSUPPORTED, "CONTENT_ENCODING")
    assert "\x1b" not in error.message


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(b"hello", mtime=0)),
        ("GZIP", gzip.compress(b"hello", mtime=0)),
        ("deflate", zlib.compress(b"hello")),
        ("deflate", zlib.compress(b"hello")[2:-4]),
        ("identity", b"hello"),
        ("", b"hello"),
    ],
)
async def test_packed_pages(coding: str, body: bytes) -> None:
    async with Site({"/": _packed(coding, body)}).serving() as site:
        assert (await at(site).fetch(URL, max_bytes=100)).content == b"hello"


async def test_damaged_packing() -> None:
    async with Site({"/": _packed("gzip", b"not packed at all")}).serving() as site:
        error = await _error(at(site).fetch(URL))
    assert (error.category, error.retryable) == ("NETWORK_ERROR", False)


async def test_the_bound_is_exact() -> None:
    packed = gzip.compress(bytes(1000), mtime=0)
    async with Site({"/": reply(bytes(1000)), "/p": _packed("gzip", packed)}).serving() as site:
        made = at(site)
        for path in ("", "p"):
            assert len((await made.fetch(URL + path, max_bytes=1000)).content) == 1000
            error = await _error(made.fetch(URL + path, max_bytes=999))
            assert error.category == "FILE_TOO_LARGE"


async def test_the_bound_of_the_configuration() -> None:
    async with Site({"/": reply(bytes(1000))}).serving() as site:
        assert (await _error(at(site, max_bytes=999).fetch(URL))).category == "FILE_TOO_LARGE"


async def test_a_length_that_is_too_large_is_not_waited_for() -> None:
    async with Site({"/": reply(b"", length=10**12)}).serving() as site:
        assert (await _error(at(site).fetch(URL))).category == "FILE_TOO_LARGE"


async def _endless(path: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(bytes(65_536))
        await writer.drain()


async def _endless_chunks(path: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"1000\r\n" + bytes(4096) + b"\r\n")
        await writer.drain()


async def _endless_nothing(path: str, writer: asyncio.StreamWriter) -> None:
    """Empty deflate blocks: bytes arrive for ever, and none comes out."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n\x78\x9c")
    while True:
        writer.write(b"\x00\x00\x00\xff\xff" * 13_000)
        await writer.drain()


@pytest.mark.parametrize("answer", [_endless, _endless_chunks, _endless_nothing])
async def test_bodies_without_end(answer: Answer) -> None:
    async with Site({"/": answer}).serving() as site:
        with memory_below(50 * MB):
            error = await _error(at(site).fetch(URL, max_bytes=5 * MB, deadline_s=60))
        assert error.category == "FILE_TOO_LARGE"
        await site.gone.wait()


@pytest.mark.parametrize(
    "answer",
    [
        reply(b"hello", length=50),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nBad\x00Header: 1\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 50_000 + b"\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"HTTP/1.1 20",
        b"",
    ],
)
async def test_broken_answers(answer: bytes) -> None:
    async def give(path: str, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with Site({"/": give}).serving() as site:
        error = await _error(at(site).fetch(URL, deadline_s=20))
    assert (error.code, error.category, error.retryable) == (
        Code.UNAVAILABLE, "NETWORK_ERROR", True,
    )  # fmt: skip


async def test_what_follows_the_length_is_not_read() -> None:
    async with Site({"/": reply(b"hello and more", length=5)}).serving() as site:
        assert (await at(site).fetch(URL)).content == b"hello"


async def _drip(path: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    while True:
        writer.write(b"a")
        await writer.drain()
        await asyncio.sleep(0.02)


async def _drip_head(path: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"A: b\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)


async def _drip_hints(path: str, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)


async def _silence(path: str, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def _lead_on(path: str, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(0.05)
    writer.write(leads_to(f"{path}a"))


@pytest.mark.parametrize("answer", [_drip, _silence, _drip_head, _drip_hints, _lead_on])
async def test_the_total_time_is_kept(answer: Answer) -> None:
    pages = {f"/{'a' * n}": answer for n in range(20)}
    async with Site(pages).serving() as site:
        error = await _error(at(site).fetch(URL, deadline_s=0.2))
        if answer is not _silence:
            await site.gone.wait()
    assert (error.category, error.retryable) == ("NETWORK_ERROR", True)
    assert "0.2 s" in error.message


async def test_a_slow_name_service() -> None:
    async def resolve(host: str, port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    error = await _error(fetcher(resolve, deadline_s=0.05).fetch(URL))
    assert error.category == "NETWORK_ERROR"


async def test_names_that_nobody_answers_hold_up_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The system's own name service cannot be made to hang; what asks it can."""
    given_up = threading.Event()

    def hang(*_: object, **__: object) -> list[object]:
        given_up.wait()
        raise socket.gaierror(socket.EAI_AGAIN, "no answer")

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    web = Fetcher(HttpSettings(deadline_s=10), log=Log("error", "console"))
    try:
        stuck = [asyncio.create_task(web.fetch(f"http://a{n}.example/")) for n in range(50)]
        await until(lambda: "vr-names" in str(threading.enumerate()))
        async with asyncio.timeout(5):
            assert await asyncio.to_thread(lambda: "a file is read") == "a file is read"
        assert sum("vr-names" in thread.name for thread in threading.enumerate()) <= ASKED_AT_ONCE
        await web.aclose()
        for task in stuck:
            task.cancel()
        await asyncio.wait(stuck)
    finally:
        given_up.set()


async def test_a_fetch_that_is_cancelled_lets_go_of_its_connection() -> None:
    async with Site({"/": _drip}).serving() as site:
        task = asyncio.create_task(at(site).fetch(URL))
        await site.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await site.gone.wait()


async def _read(download: Download) -> bytes:
    return b"".join([piece async for piece in download.chunks()])


FILE = bytes(range(256)) * 40


async def _ranged(path: str, writer: asyncio.StreamWriter) -> None:
    span = {"Content-Range": f"bytes 4000-{len(FILE) - 1}/{len(FILE)}"}
    writer.write(reply(FILE[4000:], 206, span))


async def test_a_download_goes_on_where_it_stopped() -> None:
    async with Site({"/": reply(FILE), "/r": _ranged}).serving() as site:
        made = at(site)
        async with made.open(URL) as whole:
            assert (whole.offset, whole.size) == (0, len(FILE))
            assert await _read(whole) == FILE
        assert site.headers()["accept-encoding"] == "identity"
        assert "range" not in site.headers()
        async with made.open(f"{URL}r", offset=4000, max_bytes=len(FILE)) as rest:
            assert (rest.offset, rest.size, rest.status) == (4000, len(FILE), 206)
            assert await _read(rest) == FILE[4000:]
        assert site.headers()["range"] == "bytes=4000-"
        async with made.open(URL, offset=4000) as anew:
            assert anew.offset == 0
            assert await _read(anew) == FILE


async def test_the_bound_of_a_download_counts_what_is_there_already() -> None:
    async with (
        Site({"/r": _ranged}).serving() as site,
        at(site).open(f"{URL}r", offset=4000, max_bytes=len(FILE) - 1) as rest,
    ):
        assert (await _error(_read(rest))).category == "FILE_TOO_LARGE"


@pytest.mark.parametrize(
    "headers",
    [
        {}, {"Content-Range": "bytes 0-9/10"}, {"Content-Range": "bytes x"},
        {"Content-Range": "bytes 4000-4004/9000", "Content-Encoding": "gzip"},
    ],
)  # fmt: skip
async def test_another_part_than_the_one_asked_for(headers: dict[str, str]) -> None:
    async with Site({"/": reply(b"hello", 206, headers)}).serving() as site:
        with pytest.raises(VrError, match="another part"):
            async with at(site).open(URL, offset=4000):
                pass


async def test_an_offset_beyond_the_end() -> None:
    async with Site({"/": reply(b"", 416)}).serving() as site:
        with pytest.raises(VrError) as caught:
            async with at(site).open(URL, offset=4000):
                pass
    assert (caught.value.code, caught.value.category) == (Code.INVALID_INPUT, "RANGE_INVALID")


async def test_a_download_that_drips_ends_in_time() -> None:
    async with (
        Site({"/": _drip}).serving() as site,
        at(site).open(URL, deadline_s=0.2) as download,
    ):
        assert (await _error(_read(download))).category == "NETWORK_ERROR"


async def test_a_download_that_nobody_reads_is_closed() -> None:
    async with Site({"/": _endless}).serving() as site:
        async with at(site).open(URL) as download:
            async for piece in download.chunks():
                assert piece
                break
        await site.gone.wait()


async def test_closing_ends_what_still_arrives() -> None:
    async with Site({"/": _drip}).serving() as site:
        made = fetcher(Names(), Network({PUBLIC: site}))
        task = asyncio.create_task(made.fetch(URL))
        await site.asked.wait()
        await made.aclose()
        assert (await _error(task)).category == "NETWORK_ERROR"
