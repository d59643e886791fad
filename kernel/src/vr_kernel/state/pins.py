"""Pins: the artifacts that records need as long as they are there."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

_ADDRESS = re.compile(r"vr://artifacts/([0-9a-f]{64}\.[a-z0-9]{1,16})")


class Pin(NamedTuple):
    """An artifact that a record of a workspace needs.

    Attributes:
        workspace: of the record.
        name: of the artifact, the last part of its address.
    """

    workspace: str
    name: str


def named_in(fields: Mapping[str, Any], pinning: Collection[str]) -> set[str]:
    """The names of the artifacts whose addresses some fields of a record hold."""
    values = [fields.get(each) for each in pinning]
    texts = [text for value in values for text in (value if isinstance(value, list) else [value])]
    return {name for text in texts if isinstance(text, str) for name in _ADDRESS.findall(text)}
