"""Errors of sources that are not read: too large, empty, of another kind than they say."""

from __future__ import annotations

from vr_kernel import Code, VrError, spelled_out, visible_line

from vr_plugin_content.formats.kinds import KINDS, RECORDINGS, kind_by_content, suffix_of

MEGABYTE = 1_000_000
PACKED = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst")
UNPACK = "Unpack it, and give the folder."
HINTS = dict.fromkeys(PACKED, UNPACK) | dict.fromkeys(RECORDINGS, "Films are for the video tools.")
"""What to do with files of these suffixes instead."""


def too_large(name: str, size: int, most_mb: int) -> VrError:
    """The error of a file above the bound."""
    return VrError(
        f"{spelled_out(name)} has {size / MEGABYTE:,.0f} MB; at most {most_mb} MB are read.",
        Code.TOO_LARGE,
        category="FILE_TOO_LARGE",
        hint="Split it, or raise max_file_mb in [plugins.content].",
    )


def empty(name: str) -> VrError:
    """The error of a file without a byte."""
    return VrError(
        f"{spelled_out(name)} is empty.",
        Code.UNSUPPORTED,
        category="DOCUMENT_EMPTY",
        hint="Check that it was saved, or downloaded whole.",
    )


def unknown(name: str) -> VrError:
    """The error of a binary file that nothing here reads."""
    suffix = suffix_of(name)
    known = " ".join(dict.fromkeys(kind.suffixes[0][1:] for kind in KINDS))
    return VrError(
        f"{spelled_out(name)} is not a kind of document that is read here.",
        Code.UNSUPPORTED,
        category="FILE_UNSUPPORTED",
        hint=HINTS.get(suffix, f"These are, and source code: {known}."),
    )


def misnamed(name: str, head: bytes) -> VrError:
    """The error of bytes that are not what their name, or their server, says."""
    found = kind_by_content(head)
    seems = f"it begins as {_article(found.name)}" if found else "its bytes are something else"
    return VrError(
        f"{spelled_out(name)} is not what it says: {seems}.",
        Code.UNSUPPORTED,
        category="NOT_AS_NAMED",
        hint=f"Give it the ending {found.suffixes[0]}." if found else "Check where it comes from.",
    )


def _article(word: str) -> str:
    return f"{'an' if word[0].lower() in 'aeiou' else 'a'} {word}"


def protected(name: str) -> VrError:
    """The error of an office document that is encrypted."""
    return VrError(
        f"{spelled_out(name)} is protected by a password, or of an older format.",
        Code.AUTH,
        category="PASSWORD_NEEDED",
        hint="Open it in its own program, remove the password, and save it again.",
    )


def unread(mime: str) -> VrError:
    """The error of an address that holds no document."""
    return VrError(
        f"The address holds {visible_line(mime, 80) or 'an unknown type'}, which is not read here.",
        Code.UNSUPPORTED,
        category="CONTENT_TYPE",
        hint="Give the address of a page or a document. Films are for the video tools.",
    )
