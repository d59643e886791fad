"""Records as Markdown pages, with a checksum that shows if somebody changed them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from vr_kernel import Change, RecordField, RecordKind, visible, visible_line

from vr_plugin_knowledge.excerpts import is_blob, value_of

SHORT_CHARS = 100
"""Longest value in a list, in characters; a longer one gets a section of its own."""
TITLE_CHARS, SLUG_CHARS, SLUG_BYTES = 120, 60, 160
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


def write_page(kind: RecordKind, change: Change) -> str:
    """The page of a live record; equal records give equal pages."""
    fields = change.fields or {}
    title_field, title = _title(kind, fields)
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
    body = "\n".join(_body(kind, fields, title_field))
    text = f"---\n{front}---\n\n# {_harmless(title)}\n\n{body}".rstrip() + "\n"
    return text.replace("\n---\n", f'\nchecksum: "{_checksum(text)}"\n---\n', 1)


def name_page(kind: RecordKind, change: Change) -> str:
    """The name of a record's file, without its suffix: date, title and mark."""
    _, title = _title(kind, change.fields or {})
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


def _title(kind: RecordKind, fields: Mapping[str, Any]) -> tuple[str, str]:
    """Find the field that names a record, and its value; else the beginning of its text."""
    for field in kind.fields:
        value = fields.get(field.name)
        named = field.name.split("_")[-1] in ("title", "name")
        if named and field.type == "text" and value and len(value) <= TITLE_CHARS:
            return field.name, visible_line(value)
    words = visible_line(str(fields.get(kind.rerank) or kind.name))
    if len(words) <= SHORT_CHARS:
        return kind.rerank, words
    return "", f"{words[:SHORT_CHARS].rstrip()}…"


def _body(kind: RecordKind, fields: Mapping[str, Any], title_field: str) -> Iterator[str]:
    skipped = {title_field, kind.source, kind.link}
    shown = [field for field in kind.fields if field.name not in skipped]
    filled = [(field, fields[field.name]) for field in shown if fields.get(field.name)]
    told = [(field, value) for field, value in filled if not is_blob(kind, field.name, value)]
    facts = [(field, value) for field, value in told if _is_short(value)]
    for field, value in facts:
        yield f"- {_label(field)}: {_harmless(str(value))}"
    for field, value in told:
        if not _is_short(value):
            lines = [f"- {_harmless(' '.join(each.split()))}" for each in value]
            text = "\n".join(lines) if isinstance(value, list) else _harmless(value.strip())
            yield f"\n## {_label(field)}\n\n{text}"


def _is_short(value: object) -> bool:
    return not isinstance(value, str | list) or (
        isinstance(value, str) and len(value) <= SHORT_CHARS and "\n" not in value
    )


def _label(field: RecordField) -> str:
    return field.name.replace("_", " ").capitalize()


def _harmless(text: str) -> str:
    """Escape text of a source, so that a Markdown viewer runs and loads nothing from it."""
    return re.sub(r"<(?=[A-Za-z/!?])|!(?=\[)", r"\\\g<0>", visible(text))


def _quoted(value: object) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=visible(text) != text)


def _created_at(change: Change) -> str:
    return str((change.fields or {}).get("created_at") or change.created_at)


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]
