"""Google's SDK at a fake service."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google import genai

TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Made once and without certificates, which take long to load: the fake speaks plain HTTP."""


@asynccontextmanager
async def sdk_client(url: str, key: str = "k") -> AsyncIterator[genai.client.AsyncClient]:
    """A client of the service at that address."""
    import httpx2
    from google import genai
    from google.genai import types

    limits = httpx2.Limits(max_connections=300)
    with httpx2.Client(verify=TLS) as blocking:
        async with httpx2.AsyncClient(verify=TLS, limits=limits, timeout=30) as http:
            options = types.HttpOptions(
                base_url=url,
                api_version="v1beta",
                httpx_client=blocking,
                httpx_async_client=http,
                async_client_args={"ssl": TLS},
            )
            yield genai.Client(api_key=key, http_options=options).aio
