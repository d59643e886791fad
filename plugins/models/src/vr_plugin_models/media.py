"""Files of a request, as the services of many families take them."""

from __future__ import annotations

import asyncio
import base64
from io import BufferedReader

from vr_kernel import Code, Media, VrError

MOST_BYTES = 15_000_000
"""Largest file in a request; a third more in base64, below the 20 MB that services take."""


def unsupported(media: Media, model: str, takes: str) -> VrError:
    """The error of a file that no model of a provider reads."""
    return VrError(
        f"{model} does not take {media.kind}.",
        Code.UNSUPPORTED,
        category="MEDIA_UNSUPPORTED",
        hint=f"It takes {takes}.",
    )


async def read_bytes(media: Media) -> bytes:
    """The whole file.

    Raises:
        VrError: TOO_LARGE; UNAVAILABLE when it cannot be read any more.
    """
    assert media.file is not None
    try:
        data = await asyncio.to_thread(_read, media.file)
    except (OSError, ValueError) as error:
        raise VrError("A file of the request cannot be read.", Code.UNAVAILABLE) from error
    if len(data) > MOST_BYTES:
        raise VrError(
            f"A file of the request has more than {MOST_BYTES // 1_000_000} MB.",
            Code.TOO_LARGE,
            category="FILE_TOO_LARGE",
            hint="Make it smaller, or let Gemini watch it.",
        )
    return data


async def read_text(media: Media) -> str:
    """The words of a text file."""
    return (await read_bytes(media)).decode("utf-8", "replace")


async def in_base64(media: Media) -> str:
    """The file in base64."""
    return base64.b64encode(await read_bytes(media)).decode("ascii")


def _read(file: BufferedReader) -> bytes:
    file.seek(0)
    return file.read(MOST_BYTES + 1)
