"""Clients of OpenAI's SDK, one for each address."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, Any

from vr_plugin_models.endpoint import Endpoint
from vr_plugin_models.sdk_headers import withheld

if TYPE_CHECKING:
    from openai import AsyncOpenAI

CONNECT_S = 15.0
ACCOUNT_HEADERS = ("OpenAI-Organization", "OpenAI-Project")
"""The SDK fills them from the environment; they are for OpenAI alone."""
CUSTOM_HEADERS = "OPENAI_CUSTOM_HEADERS"
NO_KEY = "none"
"""Stands for a key where a service has none; the SDK insists on one."""


class Clients:
    """The clients of one provider, made at first use."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._made: dict[str, AsyncOpenAI] = {}

    @property
    def addresses(self) -> list[str]:
        """The addresses, in the order in which they are tried."""
        endpoint, row = self._endpoint, self._endpoint.row
        before = row.before if row.before and endpoint.address == row.address else ""
        if before and not endpoint.setting("coding_plan"):
            before = ""
        return [address for address in (before, endpoint.address) if address]

    async def at(self, address: str) -> AsyncOpenAI:
        """The client of an address; the SDK is imported in a thread."""
        if address not in self._made:
            openai = await asyncio.to_thread(import_module, "openai")
            self._made.setdefault(address, self._make(openai, address))
        return self._made[address]

    async def aclose(self) -> None:
        """Close every connection."""
        made, self._made = list(self._made.values()), {}
        for client in made:
            await client.close()

    def _make(self, openai: Any, address: str) -> AsyncOpenAI:
        endpoint = self._endpoint
        key = endpoint.key or NO_KEY
        shared: dict[str, Any] = {
            "api_key": key,
            "max_retries": 0,  # the kernel retries
            "http_client": openai.DefaultAsyncHttpxClient(
                timeout=openai.Timeout(None, connect=CONNECT_S),  # the kernel has the deadline
                **endpoint.http_options,
            ),
        }
        client: AsyncOpenAI
        if endpoint.row.family == "azure":
            client = openai.AsyncAzureOpenAI(
                azure_endpoint=address,
                api_version=endpoint.setting("api_version"),
                default_headers=_others(openai, {"api-key": key}),
                **shared,
            )
        else:
            own = {"Authorization": f"Bearer {key}"}
            is_openai = endpoint.row.name == "openai" and address == endpoint.row.address
            headers = {} if is_openai else _others(openai, own)
            client = openai.AsyncOpenAI(base_url=address, default_headers=headers, **shared)
        return client


def _others(openai: Any, key: dict[str, str]) -> dict[str, Any]:
    """The headers for a service that is not OpenAI's: without those of an account there."""
    omitted = openai.Omit()
    return {**dict.fromkeys(ACCOUNT_HEADERS, omitted), **withheld(CUSTOM_HEADERS, key, omitted)}
