"""Clips as one picture (jpg) and as an animation (gif)."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from vr_plugin_video.clips.output import check_size, nothing_there, unwritable
from vr_plugin_video.clips.pictures import Canvas, Fit, Picture, pictures_of
from vr_plugin_video.clips.request import ClipRequest, WrittenClip
from vr_plugin_video.media.probe import opened
from vr_plugin_video.vision.frames import EPSILON, need_video, walk

if TYPE_CHECKING:
    from av.video.frame import VideoFrame
    from PIL.Image import Image

JPEG_QUALITY = 92
WHOLE = Fit(16_384, 16_384)
SMALL = Fit(480, 480)
GIF_STEP_S = 0.1
"""Ten pictures a second: the most that every viewer plays at the right speed."""
COLOUR_SAMPLES = 9
"""Number of pictures from which the colours of an animation are chosen."""
SAMPLE_SIZE = 160


def write_still(request: ClipRequest) -> WrittenClip:
    """Write the picture on screen at the start, at its own size."""
    with opened(request.file) as container:
        first = next(pictures_of(container, request), None)
        if first is None:
            raise nothing_there()
        canvas = Canvas(container, first, WHOLE, "rgb24")
        image = _image(canvas.draw(first.frame))
    _save(request, image, "JPEG", quality=JPEG_QUALITY, subsampling=0)
    return WrittenClip("image/jpeg", request.start, canvas.width, canvas.height)


def write_animation(request: ClipRequest) -> WrittenClip:
    """Write a gif of at most 480 pixels a side and 10 pictures a second."""
    palette = _palette(request)
    with opened(request.file) as container:
        pictures = pictures_of(container, request)
        first = next(pictures, None)
        if first is None:
            raise nothing_there()
        canvas = Canvas(container, first, SMALL, "rgb24")
        images = _images(chain([first], pictures), request, canvas, palette)
        _save(request, next(images), "GIF", save_all=True, append_images=images, loop=0)
    return WrittenClip("image/gif", request.end, canvas.width, canvas.height)


def _images(
    pictures: Iterator[Picture], request: ClipRequest, canvas: Canvas, palette: Image
) -> Iterator[Image]:
    """One image for every picture that is on screen at a step, with its duration."""
    for picture in pictures:
        first, last = (
            math.ceil((time - request.start - EPSILON) / GIF_STEP_S)
            for time in (picture.time, picture.until)
        )
        shown = max(last, 1) - first  # however short a clip is, it has one picture
        if shown > 0:
            image = _image(canvas.draw(picture.frame)).quantize(palette=palette)
            image.info["duration"] = round(shown * GIF_STEP_S * 1000)
            yield image


def _palette(request: ClipRequest) -> Image:
    """The colours of an animation: one set for all of it, so that it does not flicker."""
    from PIL import Image

    step = (request.end - request.start) / COLOUR_SAMPLES
    times = [request.start + n * step for n in range(COLOUR_SAMPLES)]
    sheet = Image.new("RGB", (SAMPLE_SIZE * COLOUR_SAMPLES, SAMPLE_SIZE))
    with opened(request.file) as container:
        for shown in walk(container, need_video(container), [(time, time) for time in times]):
            request.tick(request.start)
            sample = shown.picture.reformat(SAMPLE_SIZE, SAMPLE_SIZE, format="rgb24")
            sheet.paste(_image(sample), (SAMPLE_SIZE * shown.stretch, 0))
    return sheet.quantize()


def _image(frame: VideoFrame) -> Image:
    from PIL import Image

    return Image.fromarray(frame.to_ndarray())


def _save(request: ClipRequest, image: Image, form: str, **options: Any) -> None:
    # Pillow does not notice when a disk takes only a part of a file.
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    check_size(buffer.tell(), request.largest)
    try:
        request.target.write_bytes(buffer.getbuffer())
    except OSError as error:
        raise unwritable(request.target.parent.parent, error) from error
