"""Only a PNG or JPEG of bounded size is handed to the program."""

from __future__ import annotations

import struct
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vr_kernel import Code, VrError
from vr_ocr_tesseract.pictures import check_picture

PNG_START = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"


def png(width: int, height: int) -> bytes:
    return PNG_START + struct.pack(">II", width, height)


def jpeg(width: int, height: int, frame: int = 0xC0) -> bytes:
    comment = b"\xff\xfe" + struct.pack(">H", 7) + b"hello"
    tables = b"\xff\xc4" + struct.pack(">H", 4) + bytes(2)
    fill = b"\xff\xff"
    size = struct.pack(">HBHH", 11, 8, height, width)
    return b"\xff\xd8" + comment + tables + fill + bytes([0xFF, frame]) + size


@pytest.mark.parametrize("data", [png(1280, 720), jpeg(1280, 720), jpeg(7680, 4320, 0xC2)])
def test_pictures_pass(data):
    check_picture(data)


@pytest.mark.parametrize("data", [png(8000, 5001), jpeg(8000, 5001), jpeg(65535, 65535, 0xC2)])
def test_too_many_pixels_are_refused(data):
    with pytest.raises(VrError) as caught:
        check_picture(data)
    assert caught.value.code is Code.TOO_LARGE


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"/etc/secret.png\n",
        b"II*\x00" + bytes(90),
        PNG_START,
        jpeg(9, 9)[:12],
        b"\xff\xd8\xff",
    ],
    ids=["empty", "list of files", "tiff", "short png", "short jpeg", "jpeg start"],
)
def test_anything_else_is_invalid_input(data):
    with pytest.raises(VrError) as caught:
        check_picture(data)
    assert caught.value.code is Code.INVALID_INPUT


@given(start=st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"]), rest=st.binary())
def test_no_bytes_raise_anything_untyped(start, rest):
    code: Code | None = None
    try:
        check_picture(start + rest)
    except VrError as error:
        code = error.code
    assert code in {None, Code.INVALID_INPUT, Code.TOO_LARGE}


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"exif": b"Exif\0\0" + bytes(99)}])
def test_sizes_of_real_jpegs_are_found(options):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    file = BytesIO()
    image.new("L", (8, 5)).save(file, "JPEG", **options)
    small = file.getvalue()
    check_picture(small)
    told = small.index(struct.pack(">HH", 5, 8))  # height and width in the frame header
    for size, refused in {(8000, 5000): False, (8001, 5000): True}.items():
        large = small[:told] + struct.pack(">HH", size[1], size[0]) + small[told + 4 :]
        if not refused:
            check_picture(large)
            continue
        with pytest.raises(VrError, match="million"):
            check_picture(large)
