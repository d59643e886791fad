"""Text for people, models and logs: without secrets and invisible characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.text.bounds import bounded
    from vr_kernel.text.fitting import take_fitting, tokens_of
    from vr_kernel.text.redaction import redactor, secrets_in_text
    from vr_kernel.text.visible_text import result_text, spelled_json

__all__ = [
    "bounded",
    "redactor",
    "result_text",
    "secrets_in_text",
    "spelled_json",
    "take_fitting",
    "tokens_of",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "bounds": "bounded",
        "fitting": "take_fitting tokens_of",
        "redaction": "redactor secrets_in_text",
        "visible_text": "result_text spelled_json",
    },
)
