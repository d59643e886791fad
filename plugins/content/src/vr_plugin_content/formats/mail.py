"""E-mails and mailboxes: each message with its head, its words, and the names of attachments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import policy
from email.message import EmailMessage, Message
from email.parser import BytesParser
from typing import BinaryIO

from vr_plugin_content.formats.encodings import blank
from vr_plugin_content.formats.html_sections import read_page
from vr_plugin_content.formats.kinds import suffix_of
from vr_plugin_content.formats.parsed import Asked, OutlineEntry, Parsed, Piece, TextBudget, damaged

MOST_MESSAGES = 10_000
MESSAGE_BYTES = 20_000_000
"""Longest message; what follows in it is left out."""
MOST_PARTS = 500
HEADERS = ("From", "To", "Cc", "Date", "Subject")
_HEADER = re.compile(rb"(?im)^(from|to|date|subject|received|message-id|mime-version):")
HEAD_BYTES = 65_536


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Read the messages of a file.

    Raises:
        ParseError: DOCUMENT_DAMAGED for what is no message; DOCUMENT_EMPTY.
    """
    box = suffix_of(asked.name) == ".mbox"
    budget = TextBudget(asked.bounds)
    found = Parsed("application/mbox" if box else "message/rfc822")
    for number, content in enumerate(_messages(file) if box else [file.read(MESSAGE_BYTES)], 1):
        if number > MOST_MESSAGES:
            found.limits.append(f"Only the first {MOST_MESSAGES:,} messages were read.")
            break
        if not _HEADER.search(content[:HEAD_BYTES]):
            raise damaged("an e-mail")
        message = BytesParser(policy=policy.default).parsebytes(content)
        text = budget.take(_text(message))
        if text.strip():
            found.pieces.append(Piece(text, {"message": number}))
            subject = _header(message, "Subject")
            found.outline.append(OutlineEntry(subject or "No subject", 1, {"message": number}))
        if budget.left <= 0:
            break
    if not found.pieces:
        raise blank()
    if not box:
        found.title = found.outline[0].text
    found.limits += budget.limits
    return found


def _messages(file: BinaryIO) -> Iterator[bytes]:
    """The messages of a mailbox, which lines with `From ` begin."""
    message = bytearray()
    for line in file:
        if line.startswith(b"From ") and message:
            yield bytes(message)
            message.clear()
        elif not line.startswith(b"From ") and len(message) < MESSAGE_BYTES:
            message += line
    if message:
        yield bytes(message)


def _text(message: EmailMessage) -> str:
    head = [f"{name}: {said}" for name in HEADERS if (said := _header(message, name))]
    plain, pages, attached = list[str](), list[str](), list[str]()
    for at, part in enumerate(message.walk()):
        if at == MOST_PARTS:
            break
        if part.is_multipart():
            continue
        name = _filename(part)
        if name or part.get_content_maintype() != "text":
            attached.append(f"- {name or part.get_content_type()}")
        elif part.get_content_subtype() == "html":
            pages.append(_content(part))
        else:
            plain.append(_content(part))
    words = "\n".join(plain).strip() or "\n\n".join(read_page(each).text for each in pages)
    files = ["Attachments:", *attached] if attached else []
    return "\n\n".join(filter(None, ["\n".join(head), words.strip(), "\n".join(files)]))


def _content(part: Message) -> str:
    """The words of a part, whatever its head says of their encoding."""
    try:
        payload = part.get_payload(decode=True)
    except (ValueError, LookupError, AssertionError):
        return ""
    if not isinstance(payload, bytes):
        return ""
    charset = str(part.get_content_charset() or "utf-8")
    try:
        return payload.decode(charset, "replace").replace("\r\n", "\n")
    except LookupError:
        return payload.decode("utf-8", "replace").replace("\r\n", "\n")


def _header(message: Message, name: str) -> str:
    try:
        return " ".join(str(message.get(name) or "").split())
    except (ValueError, LookupError, IndexError, AttributeError):  # of a damaged head
        return ""


def _filename(part: Message) -> str:
    try:
        return " ".join(str(part.get_filename() or "").split())
    except (ValueError, LookupError, AttributeError, TypeError):
        return ""
