"""The connection to a Weaviate server: opened when needed, every call with a time limit."""

from __future__ import annotations

import asyncio
import math
import warnings
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from vr_kernel import Code, Log, VrError, require_extra

from vr_plugin_knowledge.weaviate_store.address import CLOUD, Address, read_address
from vr_plugin_knowledge.weaviate_store.faults import away, translate
from vr_plugin_knowledge.weaviate_store.probing import probe_grpc, read_version
from vr_plugin_knowledge.weaviate_store.settings import WeaviateSettings

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient

T = TypeVar("T")
OLDEST = (1, 33)
"""The first version that adds vectors to a collection and negates filters."""
CLOSE_S = 3.0
INSTALL = "pip install 'video-research[weaviate]'"


class Connection:
    """One client of one server, made at the first call, and again after a failed attempt.

    Args:
        settings: where the server is, its key, and the time limits.
        log: where connections are logged; None logs nothing.
        write_s: returns the most seconds that a write may take now, or refuses it.
    """

    def __init__(
        self,
        settings: WeaviateSettings,
        log: Log | None = None,
        write_s: Callable[[], float] = lambda: math.inf,
    ) -> None:
        self._settings = settings
        self._log = log
        self._write_s = write_s
        self._client: WeaviateAsyncClient | None = None
        self._opening = asyncio.Lock()

    @property
    def where(self) -> str:
        """The server's address without secrets, as messages show it."""
        return self._address().shown

    async def query(self, ask: Callable[[WeaviateAsyncClient], Awaitable[T]]) -> T:
        """Read from the server; see `run`."""
        return await self.run(ask, self._settings.weaviate_query_s)

    async def insert(self, write: Callable[[WeaviateAsyncClient], Awaitable[T]]) -> T:
        """Write to the server; see `run`.

        Raises:
            VrError: also what `write_s` raises.
        """
        return await self.run(write, min(self._settings.weaviate_insert_s, self._write_s()))

    async def run(self, work: Callable[[WeaviateAsyncClient], Awaitable[T]], limit: float) -> T:
        """Run `work` with the client, within `limit` seconds.

        Raises:
            VrError: UNAVAILABLE, AUTH, QUOTA or INVALID_INPUT, as the server says.
        """
        client = await self.client()
        try:
            async with asyncio.timeout(limit):
                return await work(client)
        except TimeoutError as error:
            raise away(self.where, f"no answer within {limit:g} s") from error
        except Exception as error:  # the library's own errors and those of httpx and grpc
            raise translate(error, self.where) from error

    async def client(self) -> WeaviateAsyncClient:
        """The connected client.

        Raises:
            VrError: as `run`; UNSUPPORTED for a server that is too old; UNAVAILABLE when the
                library is not installed.
        """
        async with self._opening:
            if self._client is None:
                self._client = await self._connect()
            return self._client

    async def aclose(self) -> None:
        """Close the connection; a later call connects again."""
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):
                async with asyncio.timeout(CLOSE_S):
                    await client.close()

    def _address(self) -> Address:
        if not self._settings.weaviate_url.strip():
            raise VrError(
                "It is not said where the Weaviate server is.",
                Code.INVALID_INPUT,
                category="CONFIG_INVALID",
                hint="Set WEAVIATE_URL, for example to http://localhost:8080.",
            )
        return read_address(self._settings.weaviate_url, self._settings.weaviate_grpc_port)

    async def _connect(self) -> WeaviateAsyncClient:
        address, limit = self._address(), self._settings.weaviate_connect_s
        client = await asyncio.to_thread(_build, address, self._settings)
        try:
            async with asyncio.timeout(limit):
                await self._look_at(address)
                await client.connect()
        except BaseException as error:
            with suppress(Exception):
                await client.close()
            if isinstance(error, TimeoutError):
                raise away(address.shown, f"no answer within {limit:g} s") from error
            if isinstance(error, Exception):
                raise translate(error, address.shown) from error
            raise
        if self._log is not None:
            self._log.info("connected to Weaviate", where=address.shown)
        return client

    async def _look_at(self, address: Address) -> None:
        key, limit = self._settings.weaviate_api_key, self._settings.weaviate_connect_s
        version = await asyncio.to_thread(read_version, address, key.get_secret_value(), limit)
        require_version(version, address.shown)
        await probe_grpc(address)


def require_version(version: str, where: str) -> None:
    """Refuse a server that is too old; one that does not say its version is accepted.

    Raises:
        VrError: UNSUPPORTED.
    """
    parts = version.split(".")[:2]
    if not all(part.isdigit() for part in parts) or len(parts) < len(OLDEST):
        return
    if tuple(map(int, parts)) < OLDEST:
        raise VrError(
            f"The Weaviate server at {where} has version {version[:40]}.",
            Code.UNSUPPORTED,
            hint=f"Version {'.'.join(map(str, OLDEST))} or newer is needed.",
        )


def _build(address: Address, settings: WeaviateSettings) -> WeaviateAsyncClient:
    weaviate = _library()
    from weaviate.classes.init import AdditionalConfig, Auth, Timeout

    key = settings.weaviate_api_key.get_secret_value()
    if address.host.endswith(CLOUD) and not key:
        raise VrError(
            "Weaviate Cloud needs a key.",
            Code.AUTH,
            hint="Set WEAVIATE_API_KEY; the cloud's console shows it.",
        )
    limits = Timeout(
        init=settings.weaviate_connect_s,
        query=settings.weaviate_query_s,
        insert=settings.weaviate_insert_s,
    )
    client: WeaviateAsyncClient = weaviate.use_async_with_custom(
        http_host=address.host,
        http_port=address.port,
        http_secure=address.secure,
        grpc_host=address.grpc_host,
        grpc_port=address.grpc_port,
        grpc_secure=address.secure,
        auth_credentials=Auth.api_key(key) if key else None,
        # Its own checks at the start also ask the Python Package Index for a newer version.
        skip_init_checks=True,
        additional_config=AdditionalConfig(timeout=limits),
    )
    return client


def _library() -> Any:
    with warnings.catch_warnings():
        # authlib warns at import about its own deprecation, which a user cannot change.
        warnings.simplefilter("ignore")
        return require_extra("weaviate", "The client of Weaviate is not installed.", INSTALL)
