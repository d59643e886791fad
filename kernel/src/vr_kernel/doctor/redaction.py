"""Takes secrets out of what is shown, wherever they come from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import BaseModel, SecretStr

HIDDEN = "[secret]"
SHORTEST = 6
"""A shorter value is no secret worth the name, and would hide ordinary words."""
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_SHAPES = re.compile(
    r"AIza[\w-]{20,}"  # an API key of Google, as its consoles make them
    r"|(?<=://)[^/\s@]+(?=@)"  # name and password in an address
    r"|(?<=[?&]key=)[^&\s]+|(?<=[?&]token=)[^&\s]+"
    r"|(?i:(?<=bearer )[\w.~+/-]{8,})"
)


def redactor(values: Iterable[str]) -> Callable[[str], str]:
    """A function that hides these values in a text, and whatever has the shape of a secret."""
    # The longest first: one secret may be the beginning of another.
    known = sorted({v for v in values if len(v) >= SHORTEST}, key=len, reverse=True)
    parts = [re.escape(value) for value in known]
    pattern = re.compile("|".join(parts)) if parts else None

    def redact(text: str) -> str:
        hidden = pattern.sub(HIDDEN, text) if pattern else text
        return _SHAPES.sub(HIDDEN, hidden)

    return redact


def secrets_of(environ: Mapping[str, str], settings: Iterable[BaseModel]) -> list[str]:
    """Values of variables that are named like secrets, and secrets of validated settings."""
    found = [part for n, v in environ.items() if _SECRET_NAME.search(n) for part in (v, *_split(v))]
    for section in settings:
        for name in type(section).model_fields:
            found += _secrets_in(getattr(section, name))
    return found


def secrets_in_text(text: str) -> list[str]:
    """Values of lines such as `API_KEY = "…"`, of a file that may be no valid file at all."""
    found = []
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals and _SECRET_NAME.search(name):
            found += [part.strip(" \t\"'[]") for part in (value, *value.split(","))]
    return found


def _secrets_in(value: Any) -> list[str]:
    if isinstance(value, SecretStr):
        return [value.get_secret_value(), *_split(value.get_secret_value())]
    if isinstance(value, BaseModel):
        return [s for n in type(value).model_fields for s in _secrets_in(getattr(value, n))]
    if isinstance(value, Mapping):
        return [secret for item in value.values() for secret in _secrets_in(item)]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [secret for item in value for secret in _secrets_in(item)]
    return []


def _split(value: str) -> list[str]:
    """The parts of `name:token,token`, but not those of an address."""
    parts = value.split(",") if "://" in value else re.split("[,:]", value)
    return [part.strip() for part in parts]
