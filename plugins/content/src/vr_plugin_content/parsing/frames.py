"""Frames between the server and a worker: a JSON object, and bytes that go with it."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

_LENGTHS = struct.Struct(">II")
MOST_HEAD = 256_000_000
"""Largest JSON object, in bytes; a worker that sends a larger one is killed."""


def packed(head: Mapping[str, Any], body: bytes = b"") -> bytes:
    """Return a frame as bytes."""
    said = json.dumps(head, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return _LENGTHS.pack(len(said), len(body)) + said + body


def read_frame(stream: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """Read a frame; None at the end of the stream."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head, body = _LENGTHS.unpack(lengths)
    return json.loads(stream.read(head)), stream.read(body)


async def receive_frame(stream: asyncio.StreamReader, most: int) -> dict[str, Any]:
    """Read the JSON object of a frame from a worker, of at most so many bytes.

    Half characters, which files may hold and nothing can keep, become replacement characters.

    Raises:
        EOFError: when the stream ends before the frame does, or the frame is larger.
    """
    try:
        head, body = _LENGTHS.unpack(await stream.readexactly(_LENGTHS.size))
        if head > most or body:
            raise EOFError
        said = (await stream.readexactly(head)).decode("utf-8", "replace")
        found: dict[str, Any] = json.loads(said)
    except (asyncio.IncompleteReadError, ValueError) as error:
        raise EOFError from error
    return found
