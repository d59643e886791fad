"""Texts of sources as they were read, kept as artifacts that are named by their content."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from vr_kernel import Code, Document, Locator, Segment, VrError

MIME = "application/json"
VERSION = 1
"""Of the form of a snapshot; a reader takes all versions up to its own."""


def pack(document: Document) -> bytes:
    """Return a document as bytes; equal text gives equal bytes."""
    told = {
        "version": VERSION,
        "source": document.source,
        "title": document.title,
        "mime": document.mime,
        "sha256": document.sha256,
        "segments": [
            {"text": each.text, "locator": each.locator.as_dict(), "link": each.link}
            for each in document.segments
        ],
    }
    return json.dumps(told, sort_keys=True, separators=(",", ":")).encode()


def unpack(content: bytes, name: str) -> Document:
    """Return the document that a snapshot holds; `name` begins with the SHA-256 of its bytes.

    Raises:
        VrError: UNSUPPORTED, category SNAPSHOT_UNREADABLE, also when it is not what was kept.
    """
    if hashlib.sha256(content).hexdigest() != name.partition(".")[0]:
        raise _unreadable("It was changed since it was kept.")
    try:
        told = json.loads(content)
        if told["version"] > VERSION:
            raise _unreadable("It was written by a newer version.")
        return Document(
            source=str(told["source"]),
            title=str(told["title"]),
            mime=str(told["mime"]),
            sha256=str(told["sha256"]),
            segments=[
                Segment(str(each["text"]), locator_of(each["locator"]), str(each["link"]))
                for each in told["segments"]
            ],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise _unreadable("It is damaged.") from error


def locator_of(told: dict[str, Any]) -> Locator:
    """Return the place that JSON tells.

    Raises:
        TypeError: for a field that no place has.
    """
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in told.items()
    }
    return Locator(**fields)


def _unreadable(why: str) -> VrError:
    return VrError(
        f"The kept text of a source cannot be read. {why}",
        Code.UNSUPPORTED,
        category="SNAPSHOT_UNREADABLE",
        hint="refresh=true fetches the source anew.",
    )
