"""PDFs that tests write by hand: with outlines, tags, passwords, pictures, and damage."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping, Sequence

PAD = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
"""Bytes that fill up a password. Source: ISO 32000-1, algorithm 2."""
FILE_ID = b"0123456789abcdef"
FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"


def stream(content: bytes, entries: str = "") -> bytes:
    """An object with content."""
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (entries.encode(), len(content), content)


def written(objects: Mapping[int, bytes], trailer: str = "") -> bytes:
    """A file of these objects; the first is the catalogue."""
    content, places = bytearray(b"%PDF-1.7\n"), {}
    for number, body in objects.items():
        places[number] = len(content)
        content += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start, last = len(content), max(objects)
    content += b"xref\n0 %d\n0000000000 65535 f \n" % (last + 1)
    for number in range(1, last + 1):
        used = number in places
        content += b"%010d %05d %s \n" % (places.get(number, 0), not used, b"n" if used else b"f")
    content += b"trailer<</Root 1 0 R/Size %d%s>>\n" % (last + 1, trailer.encode())
    return bytes(content + b"startxref\n%d\n%%%%EOF" % start)


def document(
    pages: Sequence[bytes],
    *,
    more: Mapping[int, bytes] | None = None,
    catalogue: str = "",
    resources: str = "",
    page: str = "",
    box: str = "0 0 612 792",
    trailer: str = "",
) -> bytes:
    """A PDF of pages with this content, from object 10 on; `more` objects are 4 to 9."""
    numbers = range(10, 10 + 2 * len(pages), 2)
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects = {
        1: f"<</Type/Catalog/Pages 2 0 R{catalogue}>>".encode(),
        2: f"<</Type/Pages/Count {len(pages)}/Kids[{kids}]/MediaBox[{box}]>>".encode(),
        3: FONT,
    }
    for number, content in zip(numbers, pages, strict=True):
        has = f"/Resources<</Font<</F 3 0 R>>{resources}>>/Contents {number + 1} 0 R{page}"
        objects[number] = f"<</Type/Page/Parent 2 0 R{has}>>".encode()
        objects[number + 1] = stream(content)
    return written(objects | dict(more or {}), trailer)


def words(text: str, x: int = 72, y: int = 700) -> bytes:
    """Content of a page with a line of text."""
    return f"BT /F 12 Tf {x} {y} Td ({text}) Tj ET\n".encode()


def image(width: int, height: int, pixels: bytes | None = None, entries: str = "") -> bytes:
    """A grey picture as an object."""
    data = zlib.compress(bytes(width * height) if pixels is None else pixels)
    kind = f"/Type/XObject/Subtype/Image/Width {width}/Height {height}/BitsPerComponent 8"
    return stream(data, f"{kind}/ColorSpace/DeviceGray/Filter/FlateDecode{entries}")


def encrypted(text: str, password: str) -> bytes:
    """A PDF of one page that a password protects, by RC4 of 40 bits."""
    padded = (password.encode() + PAD)[:32]
    owner = _rc4(hashlib.md5(padded, usedforsecurity=False).digest()[:5], padded)
    told = padded + owner + (0xFFFFFFFC).to_bytes(4, "little") + FILE_ID
    key = hashlib.md5(told, usedforsecurity=False).digest()[:5]
    own = key + (11).to_bytes(3, "little") + bytes(2)
    content = _rc4(hashlib.md5(own, usedforsecurity=False).digest()[:10], words(text))
    user = _rc4(key, PAD)
    entries = f"/O<{owner.hex()}>/U<{user.hex()}>"
    rules = f"<</Filter/Standard/V 1/R 2/P -4{entries}>>".encode()
    trailer = f"/Encrypt 4 0 R/ID[<{FILE_ID.hex()}><{FILE_ID.hex()}>]"
    return document([content], more={4: rules}, trailer=trailer)


def _rc4(key: bytes, data: bytes) -> bytes:
    box, at = list(range(256)), 0
    for i in range(256):
        at = (at + box[i] + key[i % len(key)]) % 256
        box[i], box[at] = box[at], box[i]
    found, i, at = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        at = (at + box[i]) % 256
        box[i], box[at] = box[at], box[i]
        found.append(byte ^ box[(box[i] + box[at]) % 256])
    return bytes(found)
