"""HTTP as bytes: bodies of requests, and whole or truncated answers."""

from __future__ import annotations

from collections.abc import Iterator
from email.message import Message
from http import HTTPStatus
from io import BufferedIOBase

from vr_testing.service.faults import ServiceFault
from vr_testing.service.reply import HttpReply

BLOCK = 256 * 1024


def framed(reply: HttpReply, fault: ServiceFault | None) -> list[bytes]:
    """The bytes of an answer as they go over the wire, in the blocks in which they are sent."""
    cut = fault is not None and fault.delivery == "truncated"
    clean = fault is not None and fault.ending == "clean"
    if not reply.streams:
        body = reply.body[: len(reply.body) // 2] if cut else reply.body
        announced = len(body) if clean else len(reply.body)
        return [_head(reply, f"Content-Length: {announced}") + body]
    chunks = [b"%x\r\n%s\r\n" % (len(event), event) for event in reply.events]
    end = b"0\r\n\r\n"
    if cut:
        kept = len(chunks) // 2
        chunks, rest = chunks[:kept], chunks[kept]
        end = end if clean else rest[: len(rest) // 2]
    first, *others = chunks or [b""]
    blocks = [_head(reply, "Transfer-Encoding: chunked") + first, *others]
    return [*blocks[:-1], blocks[-1] + end]


def _head(reply: HttpReply, framing: str) -> bytes:
    known = reply.status in HTTPStatus.__members__.values()
    phrase = HTTPStatus(reply.status).phrase if known else "Error"
    lines = [f"HTTP/1.1 {reply.status} {phrase}", framing]
    lines += [f"{name}: {value}" for name, value in reply.headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def read_body(source: BufferedIOBase, headers: Message) -> Iterator[bytes]:
    """The body of a request in blocks.

    Raises:
        ConnectionError: the client hung up in the middle.
    """
    if headers.get("Transfer-Encoding", "").lower() == "chunked":
        while size := int(source.readline().split(b";")[0] or b"0", 16):
            yield from _exactly(source, size)
            source.readline()
        source.readline()
    else:
        yield from _exactly(source, int(headers.get("Content-Length") or 0))


def _exactly(source: BufferedIOBase, size: int) -> Iterator[bytes]:
    left = size
    while left:
        block = source.read(min(BLOCK, left))
        if not block:
            raise ConnectionResetError
        yield block
        left -= len(block)


def first_half(data: Iterator[bytes], size: int) -> Iterator[bytes]:
    """The first half of a body of `size` bytes; the rest stays unread."""
    left = max(1, size // 2)
    for block in data:
        yield block[:left]
        left -= len(block)
        if left <= 0:
            return
