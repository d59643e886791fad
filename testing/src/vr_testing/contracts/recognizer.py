"""The contract of text recognizers: tests that the tests of each recognizer inherit."""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from pathlib import Path
from typing import ClassVar

from vr_kernel.errors import Code
from vr_kernel.providers import TextLine, TextRecognizer

from vr_testing.contracts.outcomes import SOON_S, failure
from vr_testing.contracts.provider import ProviderContract, close

PAGE = {
    "The first line of the page": (20, 21, 291, 25),
    "Total cost: 42.50": (20, 82, 193, 19),
    "Third and last words": (60, 142, 241, 19),
}
"""Lines of the sample page, and where their ink is: left, top, width, height in pixels."""
WIDTH, HEIGHT = 420, 190
NEAR = 12
"""Pixels by which a box may be off."""
ALIKE = 0.85
"""Least share of a line that has to be read correctly, by `difflib`."""


class TextRecognizerContract(ProviderContract[TextRecognizer]):
    """The tests of `vr_kernel.TextRecognizer`, for pytest with asyncio's auto mode.

    A recognizer's tests subclass it once:

    ```python
    class TestRapidOcr(TextRecognizerContract):
        plugins: ClassVar = {"ocr-rapidocr": plugin}
        provider = "rapidocr"
    ```

    Every test opens a kernel and a recognizer of its own, and shows it a page of three printed
    English lines. A test can be overridden where a recognizer has a reason to differ.
    """

    kind = TextRecognizer
    forms: ClassVar[tuple[str, ...]] = ("png", "jpg")

    async def test_lines_are_read_from_top_to_bottom(self) -> None:
        """In a PNG and in a JPEG."""
        async with self.opened() as recognizer:
            assert recognizer.name
            for form in self.forms:
                self.check_page(await recognizer.recognize(page(form)))

    async def test_lines_are_where_the_text_is(self) -> None:
        """Left, top, width and height in pixels; a confidence from 0 to 1."""
        async with self.opened() as recognizer:
            lines = await recognizer.recognize(page())
        for line, box in zip(lines, PAGE.values(), strict=True):
            assert 0 <= line.confidence <= 1, line
            left, top, width, height = line.box
            assert abs(left - box[0]) <= NEAR, line
            assert abs(top - box[1]) <= NEAR, line
            assert abs(left + width - box[0] - box[2]) <= NEAR, line
            assert abs(top + height - box[1] - box[3]) <= NEAR, line

    async def test_an_empty_page_has_no_lines(self) -> None:
        """A page without text is not an error."""
        async with self.opened() as recognizer:
            assert await recognizer.recognize(blank_page()) == []

    async def test_what_is_no_picture_is_refused(self) -> None:
        """It raises INVALID_INPUT, and the next picture is read."""
        whole = page()
        spoilt = {
            "nothing": b"",
            "text": b"/etc/passwd\n" * 9,
            "half a picture": whole[: len(whole) // 2],
            "the beginning of one": whole[:30],
            "noise behind the beginning": whole[:40] + bytes(range(256)) * 4,
        }
        async with self.opened() as recognizer:
            for name, data in spoilt.items():
                error = await failure(recognizer.recognize(data))
                assert error.code is Code.INVALID_INPUT, f"{name}: {error}"
            self.check_page(await recognizer.recognize(whole))

    async def test_a_picture_too_large_to_read_is_refused_at_once(self) -> None:
        """A few bytes may claim to be gigabytes: TOO_LARGE, without unpacking them."""
        async with self.opened() as recognizer, asyncio.timeout(SOON_S):
            error = await failure(recognizer.recognize(png(100_000, 100_000, b"")))
            assert error.code in (Code.TOO_LARGE, Code.INVALID_INPUT), error

    async def test_calls_at_the_same_time_get_their_own_lines(self) -> None:
        """No call gets the text of another picture, and each gets the same every time."""
        pictures = [page(), blank_page()] * 2
        async with self.opened() as recognizer:
            alone = await recognizer.recognize(page())
            found = await asyncio.gather(*map(recognizer.recognize, pictures))
            assert found == [alone, [], alone, []], "a call got another call's lines"

    async def test_a_cancelled_call_leaves_it_usable(self) -> None:
        """The next call is answered."""
        async with self.opened() as recognizer:
            work = asyncio.ensure_future(recognizer.recognize(page()))
            await asyncio.sleep(0)
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work
            async with asyncio.timeout(SOON_S):
                self.check_page(await recognizer.recognize(page()))

    async def test_closing_twice_is_harmless(self) -> None:
        """Used or not, it releases its resources once."""
        async with self.opened() as unused, self.opened() as used:
            await used.recognize(page())
            for recognizer in (unused, used) * 2:
                await close(recognizer)

    def check_page(self, lines: Sequence[TextLine]) -> None:
        """Check that the lines are those of the sample page, in its order, read well enough."""
        texts = [line.text for line in lines]
        assert len(texts) == len(PAGE), texts
        for text, expected in zip(texts, PAGE, strict=True):
            assert text == text.strip(), f"{text!r} has blanks around it"
            likeness = SequenceMatcher(None, text.casefold(), expected.casefold()).ratio()
            assert likeness >= ALIKE, f"{text!r} was read in place of {expected!r}"


def page(form: str = "png") -> bytes:
    """The sample page."""
    return Path(__file__).with_name("pages").joinpath(f"page.{form}").read_bytes()


def blank_page() -> bytes:
    """A white picture of the same size."""
    row = b"\x00" + b"\xff" * WIDTH
    return png(WIDTH, HEIGHT, row * HEIGHT)


def png(width: int, height: int, rows: bytes) -> bytes:
    """A grey PNG picture whose header states this size, whatever its rows hold."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(name + data))
    return struct.pack(">I", len(data)) + name + data + checksum
