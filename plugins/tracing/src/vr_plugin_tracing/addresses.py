"""Addresses of servers that spans are sent to, and the headers that go with them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
_PATH = re.compile(r"[\x21-\x7e]*")
_PORTS = {"http": 80, "https": 443}
_SIGNALS = ("/v1/traces", "/v1/metrics")


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server.

    A private one is allowed, as only the user's own settings name it.

    Attributes:
        secure: whether it is asked over TLS.
        host: its name.
        port: its port.
        path: what stands before the paths of its interface.
    """

    secure: bool
    host: str
    port: int
    path: str

    @property
    def name(self) -> str:
        """Host and port, for a person."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def address_of(url: str) -> Address:
    """Return the address that a URL names.

    Raises:
        ValueError: for what is no URL of an HTTP server; the message repeats nothing of it.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
        host = host if ":" in host else host.encode("idna").decode()
    except ValueError:  # its own message repeats the URL
        raise ValueError("its host or its port is not valid") from None
    if not host or not port or parts.scheme not in _PORTS:
        raise ValueError("it is not the address of an HTTP server, such as http://localhost:4318")
    if "@" in parts.netloc:
        raise ValueError("it has a password in it, which belongs into the headers or the token")
    path = parts.path.rstrip("/")
    for signal in _SIGNALS:
        path = path.removesuffix(signal)
    if not _PATH.fullmatch(path):
        raise ValueError("its path is not valid")
    return Address(parts.scheme == "https", host, port, path)


def headers_of(text: str) -> dict[str, str]:
    """Return headers that are written as `name=value,name=value`, with `%20` and the like.

    Raises:
        ValueError: for a malformed one; the message repeats no value.
    """
    found: dict[str, str] = {}
    for number, pair in enumerate(filter(None, map(str.strip, text.split(","))), 1):
        name, equals, value = pair.partition("=")
        name, value = name.strip(), unquote(value.strip())
        if not equals or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise ValueError(f"header {number} is not written as name=value")
        found[name] = value
    return found
