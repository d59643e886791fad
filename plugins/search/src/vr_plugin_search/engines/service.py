"""A service: its settings, requests to it, and answers that are read or refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from pydantic import SecretStr
from vr_kernel import Services, VrError

from vr_plugin_search.engines.failures import failure_of, not_set_up, unreadable
from vr_plugin_search.engines.service_rows import ServiceRow

MOST_BYTES = 8_000_000
DEADLINE_S = 30.0


class Service:
    """Sends requests to a service, with its key, through the program's own fetcher.

    Args:
        services: of this plugin, for the caller.
        row: of the service.
    """

    def __init__(self, services: Services, row: ServiceRow) -> None:
        self.row = row
        self._http = services.http
        self._settings = services.settings

    @property
    def key(self) -> str:
        """The key; empty without one."""
        found = getattr(self._settings, self.row.key, None) if self.row.key else None
        return found.get_secret_value().strip() if isinstance(found, SecretStr) else ""

    @property
    def address(self) -> str:
        """The base URL; empty when the user names none."""
        return str(getattr(self._settings, self.row.address, ""))

    def setting(self, name: str) -> str:
        """Another setting of the service."""
        return str(getattr(self._settings, name, ""))

    def require_ready(self) -> None:
        """Refuse to go on without what the service needs, before anything is sent.

        Raises:
            VrError: AUTH without a key; UNAVAILABLE without an address.
        """
        if (self.row.needs_key and not self.key) or not self.address:
            raise not_set_up(self.row)

    async def get(
        self,
        path: str,
        asked: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Mapping[str, Any]:
        """Fetch a JSON object.

        Raises:
            VrError: AUTH, QUOTA, UNAVAILABLE or INVALID_INPUT for what the service says.
        """
        return self._object(await self.fetch(path, asked, headers))

    async def fetch(
        self,
        path: str,
        asked: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """Fetch an answer of any kind; raises as `get`."""
        url = f"{self.address}{path}?{urlencode(asked or {})}".rstrip("?")
        try:
            page = await self._http.fetch(
                url, headers=headers, max_bytes=MOST_BYTES, deadline_s=DEADLINE_S
            )
        except VrError as error:
            raise failure_of(self.row, error) from error
        return page.content

    async def post(
        self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Mapping[str, Any]:
        """Send a JSON object and return the one that comes back; raises as `get`."""
        try:
            page = await self._http.post(
                f"{self.address}{path}",
                body,
                headers=headers,
                max_bytes=MOST_BYTES,
                deadline_s=DEADLINE_S,
            )
        except VrError as error:
            raise failure_of(self.row, error) from error
        return self._object(page.content)

    def _object(self, content: bytes) -> Mapping[str, Any]:
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            raise unreadable(self.row, "it is no JSON" if content else "it is empty") from None
        if not isinstance(found, dict):
            raise unreadable(self.row, "it is no object")
        return found
