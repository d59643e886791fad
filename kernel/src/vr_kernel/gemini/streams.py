"""Reads a streamed answer, and closes its connection when it is abandoned."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING

from vr_kernel.errors import Code, VrError
from vr_kernel.gemini.errors import translated
from vr_kernel.gemini.replies import Reading

if TYPE_CHECKING:
    import httpx2
    from google.genai import types


async def read_stream(
    responses: AsyncIterator[types.GenerateContentResponse],
    arrived: list[httpx2.Response],
    reading: Reading,
    key: str,
) -> AsyncGenerator[str]:
    """The words of a stream.

    Raises:
        VrError: REPLY_TRUNCATED, with the cost, when the stream breaks after it has begun.
    """
    begun = False
    try:
        while True:
            with translated(reading.model, key):
                response = await anext(responses, None)
                if response is None:
                    return
                text = reading.take(response)
            begun = True
            if text:
                yield text
    except VrError as error:
        if begun and error.code is Code.UNAVAILABLE:
            raise reading.cut() from None
        raise
    finally:
        for answer in arrived:
            await answer.aclose()
