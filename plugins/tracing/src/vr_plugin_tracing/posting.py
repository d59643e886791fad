"""Requests to a server, one connection each; no redirect is followed, as headers hold secrets."""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any

from vr_plugin_tracing.addresses import Address

_TEMPORARY = frozenset({408, 429, 500, 502, 503, 504})
_MOST = 1_000_000
"""Bytes of an answer that are read."""


class UndeliveredError(Exception):
    """Something could not be delivered.

    Args:
        reason: for a person, without secrets.
        temporary: whether the same may be sent again.
        status: of the answer, 0 without any.
    """

    def __init__(self, reason: str, *, temporary: bool, status: int = 0) -> None:
        super().__init__(reason)
        self.temporary = temporary
        self.status = status


@dataclass(frozen=True, slots=True)
class Server:
    """A server that is asked over HTTP.

    Args:
        address: of the server.
        headers: that go with each request; they may hold secrets.
        timeout_s: for each step of a request.
        certificate: a file of certificates to trust, instead of the system's.
    """

    address: Address
    headers: Mapping[str, str] = field(repr=False)
    timeout_s: float
    certificate: str = ""

    def post(self, path: str, body: bytes, kind: str, **more: str) -> bytes:
        """Send a body and return the answer's.

        Raises:
            UndeliveredError: when there is no answer, or another than 2xx.
        """
        return self._ask("POST", path, body, {"Content-Type": kind, **more})

    def post_json(self, path: str, content: Mapping[str, Any]) -> dict[str, Any]:
        """Send JSON and return the answer's.

        Raises:
            UndeliveredError: as `post`; for an answer that is no JSON object.
        """
        return self._read(self.post(path, json.dumps(content).encode(), "application/json"))

    def get_json(self, path: str) -> dict[str, Any]:
        """Return the JSON that is there.

        Raises:
            UndeliveredError: as `post_json`.
        """
        return self._read(self._ask("GET", path, None, {}))

    def _ask(self, method: str, path: str, body: bytes | None, more: Mapping[str, str]) -> bytes:
        try:
            connection = self._connection()
        except OSError:
            raise UndeliveredError("its certificate file cannot be read", temporary=False) from None
        try:
            target = self.address.path + path
            connection.request(method, target, body, {**self.headers, **more})
            answer = connection.getresponse()
            data = answer.read(_MOST)
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise UndeliveredError(str(reason), temporary=True) from None
        finally:
            connection.close()
        if 200 <= answer.status < 300:  # noqa: PLR2004 - HTTP's own words for success
            return data
        raise UndeliveredError(
            f"it answered with status {answer.status}",
            temporary=answer.status in _TEMPORARY,
            status=answer.status,
        )

    def _connection(self) -> HTTPConnection:
        host, port = self.address.host, self.address.port
        if not self.address.secure:
            return HTTPConnection(host, port, timeout=self.timeout_s)
        trusted = ssl.create_default_context(cafile=self.certificate or None)
        return HTTPSConnection(host, port, timeout=self.timeout_s, context=trusted)

    def _read(self, data: bytes) -> dict[str, Any]:
        try:
            read = json.loads(data)
        except ValueError:
            read = None
        if not isinstance(read, dict):
            raise UndeliveredError("its answer is no JSON object", temporary=False)
        return read
