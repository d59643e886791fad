"""Views as JSON values, and back."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from vr_kernel.errors import Code, VrError
from vr_kernel.views.blocks import Block
from vr_kernel.views.model import View, validator
from vr_kernel.views.validation import BLOCK

JPEG = b"\xff\xd8\xff"


def as_data(view: View) -> dict[str, Any]:
    """A view as a JSON value: fields by name, without those that have their default."""
    data: dict[str, Any] = _data(view)
    return data


def from_data(data: object) -> View:
    """Make the view that `as_data` wrote; fields that are not known here are left out.

    Raises:
        VrError: INVALID_INPUT, category VIEW_INVALID, when it is no view.
    """
    try:
        if isinstance(data, dict) and "title" in data:
            view: View = validator().read(View, data)
            return view
        reason = "it has no title"
    except RecursionError:
        reason = "it is nested too deeply"
    except TypeError as error:
        reason = str(error)
    raise VrError(
        f"This is no view: {reason}.",
        Code.INVALID_INPUT,
        category="VIEW_INVALID",
        hint="A view as data is what `vr show … -o FILE.json` writes.",
    )


def image_address(image: bytes) -> str:
    """The bytes of a picture as a `data:` address."""
    kind = "jpeg" if image.startswith(JPEG) else "png"
    return f"data:image/{kind};base64,{base64.b64encode(image).decode()}"


def _data(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        named = {BLOCK: type(value).__name__} if isinstance(value, Block) else {}
        told = {each.name: getattr(value, each.name) for each in fields(value)}
        defaults = {each.name: _default(each) for each in fields(value)}
        return named | {k: _data(v) for k, v in told.items() if v != defaults[k]}
    if isinstance(value, bytes):
        return image_address(value)
    if isinstance(value, Mapping):
        return {key: _data(each) for key, each in value.items()}
    return [_data(each) for each in value] if isinstance(value, tuple | list) else value


def _default(field: Field[Any]) -> Any:
    return field.default if field.default is not MISSING else MISSING
