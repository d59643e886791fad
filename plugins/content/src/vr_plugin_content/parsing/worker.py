"""The program of a worker: parses one file after another, as the server asks on standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from importlib import import_module
from io import BytesIO
from typing import Any, BinaryIO

from vr_plugin_content.formats.parsed import Asked, ParseError
from vr_plugin_content.parsing.frames import packed, read_frame
from vr_plugin_content.parsing.limits import limit_cpu, limit_process, peak_memory_mb

FORMATS = "vr_plugin_content.formats"
"""The package of formats; one elsewhere is named in full."""
RETIRES_AT = 0.5
"""Share of its memory after which a worker ends: what a library keeps is given back."""


def main(memory_mb: int) -> None:
    """Serve tasks until standard input ends, or this process has grown too large."""
    asked, answers = _own_streams()
    limit_process(memory_mb)
    ends = False
    while not ends and (frame := read_frame(asked)) is not None:
        answer = perform(*frame)
        ends = peak_memory_mb() > RETIRES_AT * memory_mb
        answers.write(packed({**answer, "ends": ends}))
        answers.flush()


def perform(task: Mapping[str, Any], body: bytes) -> dict[str, Any]:
    """Do a task, or each of many, and return its result or its error as JSON."""
    if "many" in task:
        return {"result": [perform(each, b"") for each in task["many"]]}
    limit_cpu(task["seconds"])
    try:
        return {"result": _parsed(task, body)}
    except ParseError as error:
        return {"error": _as_json(error)}
    except MemoryError:
        return {"error": _as_json(_too_large())}
    except Exception as error:  # noqa: BLE001 - a library may raise anything at a hostile file
        return {"error": _as_json(_unreadable(error))}


def _parsed(task: Mapping[str, Any], body: bytes) -> Any:
    name = task["format"]
    module = import_module(name if "." in name else f"{FORMATS}.{name}")
    work = getattr(module, task["work"])
    with _opened(task, body) as file:
        found = work(file, Asked.read(task["asked"]))
    return [asdict(each) for each in found] if isinstance(found, list) else asdict(found)


def _opened(task: Mapping[str, Any], body: bytes) -> BinaryIO:
    """Open the file that the server has checked, and no other one in its place.

    Raises:
        ParseError: when it was replaced or changed since.
    """
    if "path" not in task:
        return BytesIO(body)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        file = os.fdopen(os.open(task["path"], flags), "rb")
    except OSError:
        raise _changed() from None
    if identity_of(file) != task["identity"]:
        file.close()
        raise _changed()
    return file


def identity_of(file: BinaryIO) -> list[int]:
    """Return what tells an open file from any other: device, inode, size, time of its content."""
    status = os.fstat(file.fileno())
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns]


def _as_json(error: ParseError) -> dict[str, str]:
    return {
        "code": error.code,
        "category": error.category,
        "message": error.message,
        "hint": error.hint,
    }


def _changed() -> ParseError:
    message = "The file changed while it was being read."
    hint = "Call again when nothing writes to it any more."
    return ParseError("FILE_CHANGED", message, hint, "CONFLICT")


def _too_large() -> ParseError:
    message = "Reading this file takes more memory than a parser may use."
    hint = "Split the file, or raise parser_memory_mb in [plugins.content]."
    return ParseError("PARSER_MEMORY", message, hint, "TOO_LARGE")


def _unreadable(error: Exception) -> ParseError:
    if isinstance(error, ImportError):
        message = f"A library that reads this kind of file is missing: {error.name}."
        hint = 'Install it: pip install "video-research[docs]"'
        return ParseError("EXTRA_MISSING", message, hint, "UNAVAILABLE")
    message = f"The file cannot be read ({type(error).__name__})."
    return ParseError("DOCUMENT_DAMAGED", message, "Open it in its own program, and save it again.")


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return the streams of the server, and lead what libraries print to nowhere."""
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    return asked, answers


if __name__ == "__main__":
    main(int(sys.argv[1]))
