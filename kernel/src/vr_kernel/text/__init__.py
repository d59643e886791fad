"""Text as people, models and logs may get it: without secrets, without signs that nobody sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.text.bounds import NAME_CHARS, bounded
    from vr_kernel.text.redaction import redactor, secrets_in_text, secrets_of
    from vr_kernel.text.visible_text import all_visible, result_text, spelled_json

__all__ = [
    "NAME_CHARS",
    "all_visible",
    "bounded",
    "redactor",
    "result_text",
    "secrets_in_text",
    "secrets_of",
    "spelled_json",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "bounds": "NAME_CHARS bounded",
        "redaction": "redactor secrets_in_text secrets_of",
        "visible_text": "all_visible result_text spelled_json",
    },
)
