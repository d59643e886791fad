"""Outcomes of a provider's calls: pieces, an error, or a stream that is abandoned."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterator
from contextlib import aclosing, contextmanager
from io import BufferedReader
from pathlib import Path
from tempfile import TemporaryDirectory

from vr_kernel.errors import VrError
from vr_kernel.generation import Reply, ReplyPiece

SOON_S = 20.0


@contextmanager
def temporary_file(content: bytes) -> Iterator[BufferedReader]:
    """An opened file of that content, deleted afterwards."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "file")
        path.write_bytes(content)
        with path.open("rb") as file:
            yield file


async def drained(stream: AsyncIterator[ReplyPiece]) -> tuple[list[ReplyPiece], Reply | None]:
    """The pieces of a stream, and the reply of the last one."""
    pieces = [piece async for piece in stream]
    assert all(piece.reply is None for piece in pieces[:-1]), "a reply before the last piece"
    return pieces, pieces[-1].reply if pieces else None


async def first_piece(stream: AsyncIterator[ReplyPiece]) -> ReplyPiece:
    """The first piece of a stream, which is then closed."""

    async def pieces() -> AsyncGenerator[ReplyPiece]:
        async for piece in stream:
            yield piece

    async with aclosing(stream if isinstance(stream, AsyncGenerator) else pieces()) as left:
        async with asyncio.timeout(SOON_S):
            return await anext(left)


async def failure(call: Awaitable[object]) -> VrError:
    """The error of a call that has to fail."""
    try:
        await call
    except VrError as error:
        return error
    raise AssertionError("the call did not fail")


def chain(error: BaseException | None) -> list[BaseException]:
    """An error and all its causes."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found
