"""Text from bytes: by its marks, by what a server says, as UTF-8, or as it seems to be."""

from __future__ import annotations

import codecs
import re

from vr_plugin_content.formats.parsed import ParseError

SAMPLE = 65_536
"""Bytes by which the encoding of a text is guessed."""
BINARY_SHARE = 0.01
"""Share of control characters in the sample above which bytes are no text."""
WIDE_SHARE = 0.3
"""Share of NULs in every other byte that UTF-16 without its mark has, in Western languages."""
DAMAGED_SHARE = 0.005
"""Share of wrong characters below which a text is damaged UTF-8, and not of another encoding."""
WEST = "cp1252"
"""The usual encoding of the West, which is taken where another one is as likely."""
SELDOM = ("mac_cyrillic", "mac_greek", "mac_iceland", "mac_latin2", "mac_roman", "mac_turkish")
"""Encodings of old Macintoshes, which a short text is taken for by mistake."""
FEW_SIGNS = 4
"""Fewer characters beyond ASCII tell nothing of an encoding."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAID = re.compile(
    r"utf[-_]?(8|16|32)([-_]?[lb]e)?(-sig)?|(us-)?ascii|(x-)?(iso|mac|cp|windows|koi8|big5|euc|latin"
    r"|gb|shift|sjis|johab|hz|tis)[\w-]*",
    re.IGNORECASE | re.ASCII,
)
_AS_ON_THE_WEB = {
    "ascii": "utf-8",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_BREAKS = re.compile(r"[\x0b\x0c\x85\u2028\u2029]")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\))")


def decoded(content: bytes, charset: str = "") -> str:
    """Return the text of bytes, with line feeds at its line ends and without control characters.

    Its lines are those that an editor counts: a form feed ends none.

    Args:
        content: all of it.
        charset: as a server says it is.

    Raises:
        ParseError: DOCUMENT_EMPTY; DOCUMENT_BINARY for what is no text.
    """
    text = _text(content, charset).replace("\r\n", "\n").replace("\r", "\n")
    text = without_controls(without_escapes(text))
    if not text or text.isspace():
        raise blank()
    return text


def without_escapes(text: str) -> str:
    """Return a text without the signs by which programs colour a terminal."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def without_controls(text: str) -> str:
    """Return a text without control characters other than tabs and line feeds."""
    return _CONTROLS.sub("", _BREAKS.sub(" ", text))


def blank() -> ParseError:
    """The error of a document without a word."""
    message, hint = "It holds no text.", "Check that it was saved, or downloaded whole."
    return ParseError("DOCUMENT_EMPTY", message, hint)


def _text(content: bytes, charset: str) -> str:
    for mark, name in _MARKS:
        if content.startswith(mark):
            return content.decode(name, "replace").removeprefix("\ufeff")
    sample = content[:SAMPLE]
    for name in filter(None, (_known(charset, sample), _wide(sample))):
        try:
            return _checked(content.decode(name))
        except UnicodeError:
            continue
    if _is_binary(sample.decode("latin-1")):
        raise _binary()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode(_guessed(content), "replace")


def _checked(text: str) -> str:
    """Return a text that an encoding made of bytes, unless they are none.

    Raises:
        ParseError: DOCUMENT_BINARY.
    """
    if _is_binary(text[:SAMPLE]):
        raise _binary()
    return text


def _known(charset: str, sample: bytes) -> str:
    """Return the encoding that a server means; empty for none, and for what cannot be meant.

    Python knows more of them, such as `punycode`, which takes hours for a hostile page.
    """
    if not _SAID.fullmatch(charset.strip()):
        return ""
    try:
        name = codecs.lookup(charset.strip().lower().removeprefix("x-")).name
    except LookupError:
        return ""
    if name.startswith(("utf-16", "utf-32")) and b"\0" not in sample:
        return ""
    return _AS_ON_THE_WEB.get(name, name)


def _wide(sample: bytes) -> str:
    """Return the UTF-16 that a text without its mark is in; empty for any other text."""
    pairs = len(sample) // 2
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if odd > WIDE_SHARE * pairs and even * 10 < odd:
        return "utf-16-le"
    return "utf-16-be" if even > WIDE_SHARE * pairs and odd * 10 < even else ""


def _is_binary(sample: str) -> bool:
    """True for many control characters; the escape of terminals and of Japanese is none."""
    controls = len(re.findall(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]", sample))
    return controls > BINARY_SHARE * len(sample)


def _binary() -> ParseError:
    message, hint = "It is no text.", "Give a document, a page, a picture or a text."
    return ParseError("DOCUMENT_BINARY", message, hint)


def _guessed(content: bytes) -> str:
    """Return the encoding that a sample seems to have; damaged UTF-8 is still taken for it."""
    from charset_normalizer import from_bytes

    sample = content[:SAMPLE]
    damaged = sample.decode("utf-8", "replace").count("\ufffd")
    pairs = len(re.findall(rb"[\xc2-\xf4][\x80-\xbf]", sample))
    if damaged < DAMAGED_SHARE * len(sample) and pairs > damaged:
        return "utf-8"
    if sum(byte > 127 for byte in sample) < FEW_SIGNS:  # noqa: PLR2004 - beyond ASCII
        return WEST
    found = from_bytes(sample, cp_exclusion=list(SELDOM))
    best = found.best()
    if best is None:
        return WEST
    as_likely = (each.encoding for each in found if each.chaos <= best.chaos)
    return WEST if not best.coherence and WEST in as_likely else best.encoding
