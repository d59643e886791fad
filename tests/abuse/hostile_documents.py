"""Documents that a stranger could have made, written when they are needed; none is downloaded."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import media_bytes as made
from hostile_files import Elsewhere

Maker = bytes | Callable[[Elsewhere], bytes]
WORD = "word/document.xml"
TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default'
    ' Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-'
    'officedocument.wordprocessingml.document.main+xml"/></Types>'
)
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
    'relationships/officeDocument" Target="word/document.xml"/></Relationships>'
)
BODY = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
    "<w:p><w:r><w:t>{}</w:t></w:r></w:p></w:body></w:document>"
)


def docx(words: str, before: str = "", **more: bytes) -> bytes:
    """A Word document; `before` stands in front of its root, `more` are further files in it."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("_rels/.rels", RELATIONS)
        archive.writestr(WORD, f'<?xml version="1.0"?>{before}{BODY.format(words)}')
        for name, content in more.items():
            archive.writestr(name, content)
    return target.getvalue()


def bomb(megabytes: int) -> bytes:
    """A small Word document that unpacks to so many megabytes."""
    return docx("x", **{"word/media/big.bin": bytes(megabytes * 1_000_000)})


def lying(megabytes: int) -> bytes:
    """The same, whose directory says that it unpacks to nothing much."""
    content = bytearray(bomb(megabytes))
    size = struct.pack("<I", megabytes * 1_000_000)
    at = content.find(size)
    while at >= 0:
        content[at : at + 4] = struct.pack("<I", 1_000)
        at = content.find(size, at + 4)
    return bytes(content)


def linked() -> bytes:
    """A Word document with a symbolic link in it."""
    target = io.BytesIO(docx("x"))
    with zipfile.ZipFile(target, "a") as archive:
        info = zipfile.ZipInfo("word/media/link")
        info.create_system, info.external_attr = 3, 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    return target.getvalue()


def many_entries(count: int) -> bytes:
    """A zip file whose directory has very many entries."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for number in range(count):
            archive.writestr(f"word/{number}", b"")
    return target.getvalue()


def laughs() -> str:
    """A document type whose entities grow without end."""
    inner = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    return f'<!DOCTYPE d [<!ENTITY l0 "ha">{inner}]>'


def pdf(objects: Mapping[int, bytes]) -> bytes:
    """A PDF of these objects, the first of which is its root."""
    content = bytearray(b"%PDF-1.7\n")
    places = {}
    for number, body in objects.items():
        places[number] = len(content)
        content += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start, last = len(content), max(objects)
    content += b"xref\n0 %d\n0000000000 65535 f \n" % (last + 1)
    for number in range(1, last + 1):
        content += b"%010d 00000 n \n" % places.get(number, 0)
    return bytes(
        content + b"trailer<</Root 1 0 R/Size %d>>startxref\n%d\n%%%%EOF" % (last + 1, start)
    )


def many_pages(count: int) -> bytes:
    """A PDF with very many pages, each the same."""
    kids = b" ".join(b"3 0 R" for _ in range(count))
    return pdf(
        {
            1: b"<</Type/Catalog/Pages 2 0 R>>",
            2: b"<</Type/Pages/Count %d/Kids[%s]>>" % (count, kids),
            3: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>",
        }
    )


def flood_of_text(megabytes: int) -> bytes:
    """A PDF whose one page unpacks to so many megabytes of drawing."""
    packed = zlib.compress(b"0 0 1 1 re f " * (megabytes * 80_000))
    return pdf(
        {
            1: b"<</Type/Catalog/Pages 2 0 R>>",
            2: b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
            3: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9e9 9e9]/Contents 4 0 R>>",
            4: b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed),
        }
    )


def circular_outline() -> bytes:
    """A PDF whose headings lead to each other in a circle."""
    return pdf(
        {
            1: b"<</Type/Catalog/Pages 2 0 R/Outlines 5 0 R>>",
            2: b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
            3: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>",
            5: b"<</First 6 0 R/Last 7 0 R/Count 2>>",
            6: b"<</Title(a)/Parent 5 0 R/Next 7 0 R/First 6 0 R/Dest[3 0 R/Fit]>>",
            7: b"<</Title(b)/Parent 5 0 R/Next 6 0 R/Dest[3 0 R/Fit]>>",
        }
    )


def notebook(megabytes: int) -> bytes:
    """A notebook with so many megabytes of output."""
    output = {"output_type": "stream", "text": ["spam " * 200_000] * megabytes}
    cell = {"cell_type": "code", "source": "print()", "outputs": [output]}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}).encode()


REFUSED: Mapping[str, Maker] = {
    "bomb.docx": lambda _e: bomb(620),
    "slip.docx": docx("x", **{"../../../out.xml": b"x"}),
    "absolute.docx": docx("x", **{"/etc/out.xml": b"x"}),
    "link.docx": lambda _e: linked(),
    "entries.docx": lambda _e: many_entries(25_000),
    "cut.docx": docx("x")[:300],
    "no document.docx": b"PK\x03\x04" + bytes(500),
    "protected.docx": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1_000),
    "picture.docx": made.png(8, 8),
    "picture.pdf": made.png(8, 8),
    "cut.pdf": many_pages(3)[:200],
    "empty.pdf": b"",
    "pixels.png": made.png(100_000, 100_000),
    "cut.png": made.png(64, 64)[:60],
    "entity.svg": lambda e: (
        f'<!DOCTYPE svg [<!ENTITY x SYSTEM "{e.file.as_uri()}">]><svg><text>&x;</text></svg>'
    ).encode(),
    "laughs.svg": f"{laughs()}<svg><text>&l11;</text></svg>".encode(),
    "deep.ipynb": b"[" * 200_000,
    "list.ipynb": b"[1, 2, 3]",
    "blank.md": b" \n\n ",
    "noise.txt": bytes(range(256)) * 40,
    "noise.eml": bytes(range(128)) * 40,
}
"""Files that are refused, each with a typed error."""
CAPPED: Mapping[str, Maker] = {
    "lying.docx": lambda _e: lying(400),
    "laughs.docx": docx("&l11;", laughs()),
    "outside.docx": lambda e: docx(
        "&x;&y;",
        f'<!DOCTYPE d [<!ENTITY x SYSTEM "{e.file.as_uri()}"><!ENTITY y SYSTEM "{e.url}y">]>',
    ),
    "pages.pdf": lambda _e: many_pages(100_000),
    "flood.pdf": lambda _e: flood_of_text(60),
    "circle.pdf": circular_outline(),
    "endless.csv": lambda _e: b'"' + b"a," * 20_000_000,
    "wide.csv": lambda _e: b",".join([b"x"] * 100_000) + b"\n" + b"1," * 100_000,
    "outputs.ipynb": lambda _e: notebook(20),
    "deep.html": b"<div>" * 50_000 + b"words",
    "plain.html": b"<plaintext>" + b"<b>" * 100_000,
    "tables.html": b"<table><tr><td>" * 5_000,
    "quotes.md": b"> " * 50_000 + b"words",
    "brackets.md": b"[" * 100_000,
    "minified.json": lambda _e: b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "laughs.xml": f"{laughs()}<d>&l11;</d>".encode(),
    "outside.xml": lambda e: (
        f'<!DOCTYPE d [<!ENTITY x SYSTEM "{e.file.as_uri()}">]><d>&x;</d>'
    ).encode(),
    "aliases.yaml": b"a: &a [x]\n"
    + b"".join(b"%c: &%c [*%c,*%c]\n" % (98 + n, 98 + n, 97 + n, 97 + n) for n in range(20)),
    "mails.mbox": b"From a@b.c\nSubject: x\n\nwords\n" * 20_000,
}
"""Files that are refused, or read as far as there is room."""


def write(folder: Path, elsewhere: Elsewhere, makers: Mapping[str, Maker]) -> list[Path]:
    """Write these files, and return their paths."""
    paths = []
    for name, maker in makers.items():
        path = folder / name
        path.write_bytes(maker(elsewhere) if callable(maker) else maker)
        paths.append(path)
    return paths
