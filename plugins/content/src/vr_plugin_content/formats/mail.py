"""E-mails and mailboxes: each message with its head, its words, and the names of attachments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser
from email.policy import Compat32
from itertools import islice
from typing import BinaryIO

from vr_plugin_content.formats.encodings import blank, decoded
from vr_plugin_content.formats.html_sections import read_page
from vr_plugin_content.formats.kinds import suffix_of
from vr_plugin_content.formats.line_blocks import line_blocks
from vr_plugin_content.formats.mailbox import messages_of
from vr_plugin_content.formats.parsed import (
    Asked,
    OutlineEntry,
    Parsed,
    ParseError,
    Piece,
    TextBudget,
    damaged,
)

MOST_MESSAGES = 10_000
MESSAGE_BYTES = 20_000_000
"""Longest message; what follows in it is left out."""
MOST_PARTS = 500
MOST_BOUNDARIES = 100_000
"""Lines of a message that may begin a part; Python's parser needs seconds for more."""
HEADERS = ("From", "To", "Cc", "Date", "Subject")
HEADER_CHARS = 4_000
"""Most characters of a line of a head; reading longer ones takes quadratic time."""
HEAD_BYTES = 65_536
_HEADER = re.compile(rb"(?im)^(from|to|date|subject|received|message-id|mime-version):")
_WORD = r"=\?[^?\s]+\?[bq]\?[^?\s]*\?="
_ENCODED = re.compile(rf"{_WORD}(?:\s+{_WORD})*", re.IGNORECASE)


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Read the messages of a file.

    Raises:
        ParseError: DOCUMENT_DAMAGED for what is no message; DOCUMENT_EMPTY.
    """
    box = suffix_of(asked.name) == ".mbox"
    budget = TextBudget(asked.bounds)
    found = Parsed("application/mbox" if box else "message/rfc822")
    contents = messages_of(file, MESSAGE_BYTES) if box else iter([file.read(MESSAGE_BYTES)])
    unread = 0
    for number, content in enumerate(islice(contents, MOST_MESSAGES), 1):
        message = _read(content)
        if message is None:
            unread += 1
            continue
        _add(found, message, number, budget)
        if budget.left <= 0:
            break
    else:
        if next(contents, None) is not None:
            found.limits.append(f"Only the first {MOST_MESSAGES:,} messages were read.")
    if not found.pieces:
        raise damaged("an e-mail") if unread else blank()
    if unread:
        found.limits.append(f"{unread} of its messages could not be read.")
    if not box:
        found.title = found.outline[0].text
    found.limits += budget.limits
    return found


@dataclass(frozen=True, slots=True)
class _Message:
    """A message: its subject, and all of it as text."""

    subject: str
    text: str


class _Heads(Compat32):
    """A policy for heads of strangers: kept as they stand, and cut where they are too long."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        """Read a line of a head, and those that it goes on in."""
        name, value = super().header_source_parse(sourcelines)
        return name, value[:HEADER_CHARS]

    def header_fetch_parse(self, name: str, value: str) -> str:  # noqa: ARG002 - of the policy
        """Return the line, in which other bytes than ASCII are surrogates."""
        return value


def _read(content: bytes) -> _Message | None:
    """Read a message; None for bytes that are none, or a riddle of parts within parts."""
    if not _HEADER.search(content[:HEAD_BYTES]) or content.count(b"\n--") > MOST_BOUNDARIES:
        return None
    try:
        message = BytesParser(policy=_Heads()).parsebytes(content)
        return _Message(_header(message, "Subject"), _text(message))
    except RecursionError:
        return None


def _add(found: Parsed, message: _Message, number: int, budget: TextBudget) -> None:
    """Add a message to what was found."""
    place = {"message": number}
    pieces = [Piece(block.text, dict(place)) for block in line_blocks(message.text, budget)]
    if pieces:
        found.pieces += pieces
        found.outline.append(OutlineEntry(message.subject or "No subject", 1, place))


def _text(message: Message) -> str:
    """The head, the words, and the names of attachments."""
    words, attached = [_head(message)], list[str]()
    parts = [*islice(message.walk(), MOST_PARTS)]
    plain = {id(it): _content(it) for it in parts if _is_text(it, "plain")}
    repeated = _repeated(parts, plain)
    for part in parts:
        if part.get_content_maintype() == "message" and part.is_multipart():
            words += [_head(each) for each in part.get_payload() if isinstance(each, Message)]
        elif part.is_multipart():
            continue
        elif id(part) in plain:
            words.append(plain[id(part)])
        elif not _is_text(part, "html"):
            attached.append(f"- {_filename(part) or part.get_content_type()}")
        elif id(part) not in repeated:
            words.append(read_page(_content(part)).text)
    if len(parts) == MOST_PARTS:
        attached.append("- and others: more parts are not read")
    files = ["Attachments:", *attached] if attached else []
    told = (each.strip("\n") for each in [*words, "\n".join(files)])
    return "\n\n".join(each for each in told if each.strip())


def _is_text(part: Message, form: str) -> bool:
    """True for text of a form that is no attachment."""
    return part.get_content_type() == f"text/{form}" and not _filename(part)


def _repeated(parts: list[Message], plain: dict[int, str]) -> set[int]:
    """The identities of parts that only repeat what a plain one says, their alternative."""
    found: set[int] = set()
    for part in parts:
        if part.get_content_type() == "multipart/alternative":
            forms = [id(it) for it in islice(part.walk(), MOST_PARTS)]
            if any(plain.get(each) for each in forms):
                found.update(forms)
    return found


def _head(message: Message) -> str:
    return "\n".join(f"{name}: {said}" for name in HEADERS if (said := _header(message, name)))


def _content(part: Message) -> str:
    """The words of a part, whatever its head says of their encoding."""
    try:
        payload = part.get_payload(decode=True)
        charset = part.get_content_charset()
    except (ValueError, LookupError, AssertionError):
        return ""
    return _decoded(payload, charset) if isinstance(payload, bytes) else ""


def _decoded(content: bytes, charset: str | None) -> str:
    try:
        return decoded(content, charset or "")
    except ParseError:  # without a word, or no text
        return ""


def _header(message: Message, name: str) -> str:
    return _line(str(message.get(name) or ""))


def _filename(part: Message) -> str:
    try:
        return _line(part.get_filename() or "")
    except (ValueError, LookupError, AttributeError, TypeError):
        return ""


def _line(value: str) -> str:
    """A line of a head in words: raw bytes and encoded words decoded."""
    raw = _decoded(value.encode("utf-8", "surrogateescape"), None) if value else ""
    return " ".join(_ENCODED.sub(_spelled, raw).split())


def _spelled(match: re.Match[str]) -> str:
    """Encoded words as they are meant; as they stand where they are damaged."""
    try:
        parts = decode_header(match[0])
    except (HeaderParseError, ValueError):
        return match[0]
    return "".join(_decoded(it, name) if isinstance(it, bytes) else it for it, name in parts)
