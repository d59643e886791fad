"""Front matter: fields between two lines of dashes before a Markdown text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from vr_kernel import RecordKind

LONGEST = 100_000
"""Most characters of front matter."""
_FRONT = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(?=\S)(.*?)^(?:---|\.\.\.)[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE
)

_SAYS = re.compile(r"^[ \t]*(kind|derived)[ \t]*:[ \t]*[\"']?([\w-]+)", re.MULTILINE)


def split_front(text: str) -> tuple[str, str]:
    """Split a file into front matter and text; the former is empty when there is none."""
    found = _FRONT.match(text, 0, LONGEST)
    return (found[1], text[found.end() :]) if found else ("", text)


def is_derived(text: str, kinds: Mapping[str, RecordKind]) -> bool:
    """True for a file that says that it was made from derived records, and so is not a source.

    It is read line by line, so that front matter that somebody broke while editing still counts.
    """
    said = dict(_SAYS.findall(split_front(text.lstrip("\ufeff \t\r\n"))[0]))
    kind = kinds.get(said.get("kind", ""))
    return said.get("derived", "").lower() == "true" or (kind is not None and kind.derived)


def read_front(front: str) -> dict[str, Any]:
    """Read front matter, each value as text; empty when it is not a YAML mapping."""
    import yaml  # type: ignore[import-untyped]  # it ships no types

    # It makes only text: 12:15 stays a time, instead of a number to the base of 60.
    loader = yaml.BaseLoader(front)
    try:
        said = loader.get_single_data()
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    finally:
        loader.dispose()
    return said if isinstance(said, dict) else {}
