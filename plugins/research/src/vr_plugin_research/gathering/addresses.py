"""Sources as people name them: addresses, paths, ids of records, texts."""

from __future__ import annotations

import hashlib
import re
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from vr_kernel import Services, VrError

Named = Literal["address", "record", "file", "text"]
TEXT = "text:"
"""Begin of the address of a text that was given word for word."""
_UUID = re.compile(
    r"(?:(?P<kind>[A-Za-z]\w{0,99})/)?(?P<key>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
)
_PATH_CHARS = 1_000
_MEANT = re.compile(
    r"[A-Za-z][\w+.-]{1,20}:\S.*|\\\\.*|\S*[/\\]\S*"
    r"|.*\.(?:pdf|docx?|pptx?|xlsx?|md|txt|csv|html?|epub|odt|rtf|json|xml|mp[34]|wav|mkv|webm)",
    re.IGNORECASE,
)
"""One line that can only be meant as a file or an address, whether or not there is one."""
_WORD = re.compile(r"[\w.-]{1,60}", re.ASCII)
"""One word, which says nothing that could be quoted; text without spaces is of other scripts."""
_NAMED = re.compile(r"\S{1,200}\.\w{1,8}")


def kind_of(source: str, services: Services) -> Named:
    """Tell what a source is that somebody named; what is nothing else is a text."""
    plain = source.strip()
    if is_address(plain):
        return "address"
    if _UUID.fullmatch(plain):
        return "record"
    if len(plain) <= _PATH_CHARS and "\n" not in plain and _is_path(plain, services):
        return "file"
    return "text"


def record_of(source: str) -> tuple[str, str]:
    """The kind and the key that the id of a record names; the kind may be empty."""
    match = _UUID.fullmatch(source.strip())
    return (match["kind"] or "", match["key"]) if match else ("", "")


def text_address(text: str) -> str:
    """The address of a text that was given word for word."""
    return TEXT + hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()


def name_of(source: str) -> str:
    """A source as messages name it: its address, or that it is a text."""
    return "given text" if source.startswith(TEXT) else source


def is_address(source: str) -> bool:
    """True for an http or https address."""
    return source.strip().casefold().startswith(("http://", "https://"))


def plain_address(source: str) -> str:
    """An address without what does not change the page, for telling equal ones."""
    if not is_address(source):
        return source
    try:
        parts = urlsplit(source.strip())
        host, port = (parts.hostname or "").removeprefix("www."), parts.port
    except ValueError:
        return source
    place = f"{host}:{port}" if port and port not in (80, 443) else host
    return urlunsplit(("https", place, parts.path.rstrip("/"), parts.query, ""))


def _is_path(source: str, services: Services) -> bool:
    """True for a file that is there, and for what can only be meant as a path."""
    if source.startswith(("/", "~", "./", "../")) or _NAMED.fullmatch(source):
        return True
    if not source.startswith(TEXT) and (_MEANT.fullmatch(source) or _WORD.fullmatch(source)):
        return True
    for found in (services.policy.resolve_file, services.policy.resolve_folder):
        try:
            found(source)
        except VrError:
            continue
        return True
    return False
