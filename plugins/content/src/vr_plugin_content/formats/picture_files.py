"""Pictures as files in the folder of a task."""

from __future__ import annotations

from typing import Any, Literal

from vr_plugin_content.formats.parsed import Asked, ParsedPicture, Place

QUALITY = 85
SUFFIXES = {"JPEG": ("jpg", "image/jpeg"), "PNG": ("png", "image/png")}


def saved(
    image: Any, asked: Asked, name: str, place: Place, form: Literal["JPEG", "PNG"], alt: str = ""
) -> ParsedPicture:
    """Write a picture of Pillow into the folder of a task.

    Raises:
        ValueError: for a task without a folder.
    """
    if asked.folder is None:
        raise ValueError("a task that writes pictures has a folder")
    suffix, mime = SUFFIXES[form]
    if form == "JPEG" or image.mode not in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
        image = image.convert("RGB")
    path = asked.folder / f"{name}.{suffix}"
    image.save(path, form, **({"quality": QUALITY} if form == "JPEG" else {}))
    return ParsedPicture(path.name, mime, place, alt, image.width, image.height)
