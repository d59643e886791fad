"""Records as Markdown pages, with a checksum that shows if somebody changed them."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from typing import NamedTuple

from vr_kernel import Change, RecordKind, Services, StoredRecord, visible
from vr_kernel.views import as_markdown, title_of

from vr_plugin_knowledge.excerpts import value_of

SLUG_CHARS, SLUG_BYTES = 60, 160
MARK_CHARS = 8
"""Characters of a record's key in the name of its file."""
_CHECKSUM = re.compile(r'^checksum: "([0-9a-f]{16})"\n', re.MULTILINE)
_FRONT = re.compile(r"\A---\n(.*?\n)---\n", re.DOTALL)
_KEY = re.compile(r"^key: (\".*\")$", re.MULTILINE)
_JOINERS = "[\u200c\u200d]"
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")


class Seal(NamedTuple):
    """The front matter of a page.

    Attributes:
        key: of the record it was made of.
        checksum: of the page as it was written.
        whole: whether the page is still unchanged.
    """

    key: str
    checksum: str
    whole: bool


def is_for_people(kind: RecordKind) -> bool:
    """True when records of a kind become pages.

    Places in a source do not, as they are many and small; nor do records without text of their own.
    """
    main = kind.field(kind.rerank)
    return not kind.locator and (main.searchable or main.vectorised)


async def write_page(services: Services, kind: RecordKind, change: Change) -> str:
    """The page of a live record, as its view shows it; equal records give equal pages.

    What a view has as a detail, such as data for programs, is left out.
    """
    fields = {"created_at": change.created_at, **(change.fields or {})}
    record = StoredRecord(kind.name, change.key, fields, change.provenance)
    view = await services.views.of_records([record])
    shown = replace(view, blocks=[each for each in view.blocks if not each.detail])
    head = {
        "kind": kind.name,
        "key": change.key,
        "created_at": _created_at(change),
        "derived": "true" if kind.derived else None,
        "source_tool": fields.get("source_tool"),
        "source": value_of(fields, kind.source),
        "link": value_of(fields, kind.link),
    }
    front = "".join(f"{name}: {_quoted(value)}\n" for name, value in head.items() if value)
    text = f"---\n{front}---\n\n{as_markdown(shown)}"
    return text.replace("\n---\n", f'\nchecksum: "{_checksum(text)}"\n---\n', 1)


def name_page(kind: RecordKind, change: Change) -> str:
    """The name of a record's file, without its suffix: date, title and mark."""
    title, _ = title_of(kind, change.fields or {})
    slug = re.sub(r"\W+", "-", re.sub(_JOINERS, "", title).casefold()).strip("-_")[:SLUG_CHARS]
    slug = slug.encode()[:SLUG_BYTES].decode(errors="ignore").strip("-") or "untitled"
    return f"{_created_at(change)[:10]}-{slug}-{mark_of(change.key)}"


def mark_of(key: str) -> str:
    """The short form of a record's key in the name of its file."""
    if _UUID.match(key):
        return key[:MARK_CHARS]
    return hashlib.sha256(key.encode()).hexdigest()[:MARK_CHARS]


def read_seal(text: str) -> Seal | None:
    """Read the seal of a file's text; None for one that is no page of a record."""
    text = text.replace("\r\n", "\n")
    front = _FRONT.match(text)
    key = _KEY.search(front[1]) if front else None
    checksum = _CHECKSUM.search(front[1]) if front else None
    if key is None or checksum is None:
        return None
    try:
        name = str(json.loads(key[1]))
    except ValueError:
        return None
    return Seal(name, checksum[1], _checksum(_CHECKSUM.sub("", text, count=1)) == checksum[1])


def _quoted(value: object) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=visible(text) != text)


def _created_at(change: Change) -> str:
    return str((change.fields or {}).get("created_at") or change.created_at)


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]
