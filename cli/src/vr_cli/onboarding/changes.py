"""Changes to files: each with its present text, its new text, and the difference to show."""

from __future__ import annotations

import difflib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vr_kernel import Code, VrError
from vr_kernel.text import redactor, secrets_in_text

LONGEST_LINE = 200
"""Characters of a line that are shown; a client may write its whole file into one line."""
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)
_ALL_SECRET = {"env", "headers", "http_headers"}


@dataclass(frozen=True, slots=True)
class Change:
    """A file that is set up: `before` is its text, None for a new file, `after` its new text.

    `file` is the real file, links followed; a `private` one is readable by its owner alone.
    `secrets` are values that are never shown.
    """

    title: str
    file: Path
    before: str | None
    after: str
    private: bool = False
    secrets: frozenset[str] = field(default_factory=frozenset, repr=False)

    @property
    def action(self) -> str:
        """The action on the file: `none`, `create` or `update`."""
        if (self.before or "") == self.after:
            return "none"
        return "create" if self.before is None else "update"

    def difference(self) -> str:
        """A unified diff without secrets; empty when nothing changes."""
        if self.action == "none":
            return ""
        redact = redactor(self.secrets)
        lines = difflib.unified_diff(
            (self.before or "").splitlines(),
            self.after.splitlines(),
            "/dev/null" if self.before is None else str(self.file),
            str(self.file),
            lineterm="",
        )
        return "\n".join(_shown(redact(line)) for line in lines)


def real_file(path: Path) -> Path:
    """The file that a path leads to: of a symbolic link its target, which is written instead."""
    return Path(os.path.realpath(path))


def read_file(file: Path) -> str | None:
    """The text of a file that is to be changed; None when there is no file.

    Raises:
        VrError: NOT_ALLOWED for a file that is read-only, cannot be read or is not a regular file;
            INVALID_INPUT, category CONFIG_INVALID, when it is not UTF-8.
    """
    try:
        mode = file.stat().st_mode
        if not stat.S_ISREG(mode):
            raise _refused(file, "is not a regular file", "Move it away, or write it yourself.")
        if not mode & stat.S_IWUSR:
            raise _refused(file, "is read-only", "Make it writable, or write it yourself.")
        return file.read_bytes().decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _refused(file, f"cannot be read: {error.strerror}", "Check it.") from error
    except UnicodeDecodeError:
        raise VrError(
            f"{file} is not UTF-8 text.",
            Code.INVALID_INPUT,
            category="CONFIG_INVALID",
            hint="It was left as it is. Save it as UTF-8.",
        ) from None


def secrets_of(values: Any, text: str = "") -> frozenset[str]:
    """The values of a file that are never shown: those named like secrets, variables, headers."""
    return frozenset([*secrets_in_text(text), *_secrets(values, everything=False)])


def _secrets(values: Any, *, everything: bool) -> Iterator[str]:
    if isinstance(values, Mapping):
        for name, value in values.items():
            hidden = everything or bool(_SECRET_NAME.search(name)) or name in _ALL_SECRET
            yield from _secrets(value, everything=hidden)
    elif isinstance(values, list):
        after_flag = False
        for value in values:
            flag, _, given = value.partition("=") if isinstance(value, str) else ("", "", "")
            named = flag.startswith("-") and bool(_SECRET_NAME.search(flag))
            yield from _secrets(
                given if named else value, everything=everything or after_flag or named
            )
            after_flag = named and not given
    elif everything and values and isinstance(values, str):
        yield from (values, _escaped(values))


def _escaped(value: str) -> str:
    """The value as JSON and TOML write it."""
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _shown(line: str) -> str:
    text = "".join(c if c.isprintable() or c == "\t" else ascii(c)[1:-1] for c in line)
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"


def _refused(file: Path, what: str, hint: str) -> VrError:
    return VrError(f"{file} {what}.", Code.NOT_ALLOWED, hint=f"It was left as it is. {hint}")
