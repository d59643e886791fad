"""Sets a member in JSON text and keeps the rest as it is: comments, order, indentation.

Of libraries only json-five keeps comments. It took 1.0 s for 144 kB, and a client's file may
hold megabytes; here the standard library's decoder finds the places.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_COMMENT = re.compile(_STRING + r"|(?P<comment>//[^\r\n]*|/\*.*?\*/)", re.DOTALL)
_LAST_COMMA = re.compile(_STRING + r"|(?P<comma>,)(?=\s*[}\]])", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"[ \t\r\n]*")
UNIT = "  "


class UnreadableTextError(ValueError):
    """Text that is not what its file should hold; `line` counts from 1."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


@dataclass(frozen=True, slots=True)
class _Member:
    key: str
    at: int
    start: int
    end: int


def read_json(text: str, *, comments: bool) -> Any:
    """The value of JSON text, an empty object for blank text.

    Raises:
        UnreadableTextError: with the line.
    """
    plain = _plain(text) if comments else text
    if not plain.strip():
        return {}
    try:
        return json.loads(plain)
    except json.JSONDecodeError as error:
        raise UnreadableTextError(error.msg, error.lineno) from None
    except RecursionError:
        raise UnreadableTextError("Too deeply nested", 1) from None


def set_json(text: str, keys: Sequence[str], value: Any, *, comments: bool) -> str:
    """The text with the member at `keys` set; missing objects on the way are made.

    Raises:
        UnreadableTextError: when the text is not JSON, or something else stands on the way.
    """
    read_json(text, comments=comments)
    plain = _plain(text) if comments else text
    newline = "\r\n" if "\r\n" in text else "\n"
    if not plain.strip():
        return text + _rendered(_nested(keys, value), "", UNIT, newline) + newline
    at = _skip(plain, 0)
    unit = (_indent(text, next(_members(plain, at)).at) if _has_members(plain, at) else "") or UNIT
    member = None
    for depth, key in enumerate(keys):
        at = member.start if member else at
        if plain[at] != "{":
            where = f'"{keys[depth - 1]}"' if depth else "The file"
            raise UnreadableTextError(f"{where} is no object", plain.count("\n", 0, at) + 1)
        members = list(_members(plain, at))
        member = next((it for it in reversed(members) if it.key == key), None)
        if member is None:
            new = (key, _nested(keys[depth + 1 :], value))
            return _inserted(text, plain, at, members, new, unit, newline)
    if member is None:
        return text
    rendered = _rendered(value, _indent(text, member.at), unit, newline)
    return text[: member.start] + rendered + text[member.end :]


def remove_json(text: str, keys: Sequence[str], *, comments: bool) -> str:
    """The text without the member at `keys`, and without the comma that it leaves behind.

    Raises:
        UnreadableTextError: when the text is not JSON.
    """
    read_json(text, comments=comments)
    plain, bare = (_plain(text), _without_comments(text)) if comments else (text, text)
    if not plain.strip():
        return text
    at, members, place = _skip(plain, 0), list[_Member](), -1
    for key in keys:
        at = members[place].start if members else at
        members = list(_members(plain, at)) if plain[at] == "{" else []
        places = [n for n, member in enumerate(members) if member.key == key]
        if not places:
            return text
        place = places[-1]
    member = members[place]
    after = _skip(bare, member.end)
    end = after + 1 if bare[after] == "," else member.end
    indented = text[: member.at].rstrip(" \t")
    head = indented.removesuffix("\n").removesuffix("\r")
    if end == member.end and place:
        comma = _skip(bare, members[place - 1].end)
        head = head[:comma] + head[comma + 1 :]
    return head + text[end:]


def _inserted(
    text: str,
    plain: str,
    at: int,
    members: Sequence[_Member],
    new: tuple[str, Any],
    unit: str,
    newline: str,
) -> str:
    """Put a member at the end of the object at `at`, after the comments there."""
    outer = _indent(text, at)
    inner = outer + unit
    begin = members[-1].end if members else at + 1
    close = _skip(plain, begin)
    between = text[begin:close]
    comma = "," if members and "," not in _without_comments(between) else ""
    body = between.rstrip()
    tail = between[len(body) :] if members and "\n" in between[len(body) :] else newline + outer
    key, value = new
    member = f"{json.dumps(key)}: {_rendered(value, inner, unit, newline)}"
    return f"{text[:begin]}{comma}{body}{newline}{inner}{member}{tail}{text[close:]}"


def _members(plain: str, at: int) -> Iterator[_Member]:
    """The members of the object that begins at `at`, in text that is valid JSON."""
    decoder = json.JSONDecoder()
    at = _skip(plain, at + 1)
    while plain[at] != "}":
        key, end = decoder.raw_decode(plain, at)
        start = _skip(plain, _skip(plain, end) + 1)
        _, end = decoder.raw_decode(plain, start)
        yield _Member(key, at, start, end)
        at = _skip(plain, end)
        if plain[at] == ",":
            at = _skip(plain, at + 1)


def _has_members(plain: str, at: int) -> bool:
    return plain[at] == "{" and plain[_skip(plain, at + 1)] != "}"


def _plain(text: str) -> str:
    """The text with comments and trailing commas as spaces: strict JSON with the same offsets."""
    return _LAST_COMMA.sub(_blanked("comma"), _without_comments(text))


def _without_comments(text: str) -> str:
    return _COMMENT.sub(_blanked("comment"), text)


def _blanked(group: str) -> Any:
    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\r\n]", " ", match[0]) if match[group] else match[0]

    return blank


def _skip(plain: str, at: int) -> int:
    found = _SPACE.match(plain, at)
    return found.end() if found else at


def _indent(text: str, at: int) -> str:
    """The indentation of the line at an offset."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _nested(keys: Sequence[str], value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


def _rendered(value: Any, indent: str, unit: str, newline: str) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=unit)
    encodable = _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return (newline + indent).join(encodable.split("\n"))
