"""Redaction: removes secrets from everything that is shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import BaseModel, SecretStr

from vr_kernel.text.secrets import SECRET_PARAMETERS, SECRET_SHAPES, is_secret_name

HIDDEN = "[secret]"
SHORTEST = 6
"""A shorter value is no real secret, and would hide ordinary words."""
_USER = re.compile(r"://([^/\s@]+)@")


def redactor(values: Iterable[str]) -> Callable[[str], str]:
    """Return a function that hides these values, and what looks like a secret, in a text."""
    # Longest first, since one secret may be the beginning of another.
    known = sorted({v for v in values if len(v) >= SHORTEST}, key=len, reverse=True)
    parts = [re.escape(value) for value in known]
    pattern = re.compile("|".join(parts)) if parts else None

    def redact(text: str) -> str:
        hidden = pattern.sub(HIDDEN, text) if pattern else text
        return SECRET_PARAMETERS.sub(rf"\1{HIDDEN}", SECRET_SHAPES.sub(HIDDEN, hidden))

    return redact


class Redaction:
    """A redactor that learns secrets as they become known, such as those of a plugin."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values = set(values)
        self._redact = redactor(self._values)

    def learn(self, values: Iterable[str]) -> None:
        """Hide these values too, from now on."""
        self._values.update(values)
        self._redact = redactor(self._values)

    def __call__(self, text: str) -> str:
        """The text without known secrets and what looks like one."""
        return self._redact(text)


def secrets_of(environ: Mapping[str, str], settings: Iterable[BaseModel]) -> list[str]:
    """Values of variables named like secrets, secrets of settings, and passwords in addresses."""
    found = [part for n, v in environ.items() if is_secret_name(n) for part in (v, *_split(v))]
    found += [password for value in environ.values() for password in _passwords(value)]
    for section in settings:
        for name in type(section).model_fields:
            found += _secrets_in(getattr(section, name))
    return found


def secrets_in_text(text: str) -> list[str]:
    """Values of lines such as `API_KEY = "…"`, even in a file with syntax errors."""
    found = []
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals and is_secret_name(name):
            found += [part.strip(" \t\"'[]") for part in (value, *value.split(","))]
    return found


def _secrets_in(value: Any) -> list[str]:
    if isinstance(value, SecretStr):
        return [value.get_secret_value(), *_split(value.get_secret_value())]
    if isinstance(value, str):
        return _passwords(value)
    if isinstance(value, BaseModel):
        return [s for n in type(value).model_fields for s in _secrets_in(getattr(value, n))]
    if isinstance(value, Mapping):
        return [secret for item in value.values() for secret in _secrets_in(item)]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [secret for item in value for secret in _secrets_in(item)]
    return []


def _passwords(value: str) -> list[str]:
    """The password, or the only name, before the host of an address."""
    return [place.rpartition(":")[2] for place in _USER.findall(value)]


def _split(value: str) -> list[str]:
    """The parts of `name:token,token`, but not those of an address."""
    parts = value.split(",") if "://" in value else re.split("[,:]", value)
    return [part.strip() for part in parts]
