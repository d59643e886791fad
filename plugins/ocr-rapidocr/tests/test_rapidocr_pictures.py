"""Bytes of a stranger: a picture, or a typed error; nothing else."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image  # noqa: TID253 - makes the pictures
from vr_kernel import Code, VrError
from vr_ocr_rapidocr.pictures import decode_picture


def encode(picture: Image.Image, form: str = "PNG", **options: object) -> bytes:
    file = BytesIO()
    picture.save(file, form, **options)
    return file.getvalue()


def png_header(width: int, height: int) -> bytes:
    """A PNG that only claims its size."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    checksum = struct.pack(">I", zlib.crc32(b"IHDR" + header))
    start = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + header + checksum
    return start + struct.pack(">I", 100) + b"IDAT"


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "I;16"])
def test_every_png_mode_is_read(mode):
    assert decode_picture(encode(Image.new(mode, (20, 10)))).mode in {"RGB", "RGBA"}


@pytest.mark.parametrize(("mode", "form"), [("CMYK", "JPEG"), ("L", "JPEG"), ("RGBA", "WEBP")])
def test_other_formats_are_read(mode, form):
    assert decode_picture(encode(Image.new(mode, (20, 10)), form)).size == (20, 10)


def test_a_turned_photograph_is_put_upright():
    exif = Image.Exif()
    exif[0x0112] = 6  # orientation: turn by 90 degrees
    assert decode_picture(encode(Image.new("RGB", (20, 10)), "JPEG", exif=exif)).size == (10, 20)


def whole() -> bytes:
    return encode(Image.effect_noise((40, 30), 50))


@pytest.mark.parametrize(
    "data",
    [b"", b"no picture", whole()[: len(whole()) // 2], whole()[:20], b"GIF89a" + bytes(60)],
    ids=["empty", "text", "half", "header only", "other format"],
)
def test_bad_bytes_are_invalid_input(data):
    with pytest.raises(VrError) as caught:
        decode_picture(data)
    assert caught.value.code is Code.INVALID_INPUT
    assert "PNG" in caught.value.hint


@pytest.mark.parametrize(
    "size", [(7000, 6000), (10_000, 10_000), (20_000, 20_000), (2**31 - 1, 2**31 - 1)]
)
def test_too_many_pixels_are_refused_before_decoding(size):
    with pytest.raises(VrError) as caught:
        decode_picture(png_header(*size))
    assert caught.value.code is Code.TOO_LARGE


@pytest.mark.parametrize("size", [(5001, 100), (3, 153)])
def test_too_narrow_a_picture_is_refused(size):
    with pytest.raises(VrError, match="narrow") as caught:
        decode_picture(encode(Image.new("RGB", size)))
    assert caught.value.code is Code.INVALID_INPUT


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=150)
@given(
    form=st.sampled_from(["PNG", "JPEG", "WEBP"]),
    edits=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=6),
    cut=st.floats(0.1, 1),
)
def test_damaged_pictures_raise_nothing_untyped(form, edits, cut):
    data = bytearray(encode(Image.effect_noise((24, 16), 50), form))
    for place, value in edits:
        data[int(place * (len(data) - 1))] = value
    code: Code | None = None
    try:
        decode_picture(bytes(data[: max(1, int(cut * len(data)))]))
    except VrError as error:
        code = error.code
    assert code in {None, Code.INVALID_INPUT, Code.TOO_LARGE}
