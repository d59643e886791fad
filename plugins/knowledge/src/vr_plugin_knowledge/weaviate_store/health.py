"""Checks of `vr doctor` when records are kept on a Weaviate server."""

from __future__ import annotations

import asyncio

from vr_kernel import Check, Diagnosis, Services, VrError

from vr_plugin_knowledge.weaviate_store.address import Address, read_address
from vr_plugin_knowledge.weaviate_store.connection import require_version
from vr_plugin_knowledge.weaviate_store.faults import ROOM, away
from vr_plugin_knowledge.weaviate_store.probing import count_closed, probe_grpc, read_version
from vr_plugin_knowledge.weaviate_store.settings import WeaviateSettings

LIMIT_S = 1.0
"""Seconds that each port may take; a slower server is of no use for a search."""


def weaviate_checks(services: Services) -> list[Check]:
    """The checks of both services and of their free space. They only read from the server."""
    settings: WeaviateSettings = services.settings

    async def rest() -> Diagnosis:
        address = _address(settings)
        key = settings.weaviate_api_key.get_secret_value()
        version = await asyncio.to_thread(read_version, address, key, LIMIT_S)
        require_version(version, address.shown)
        return Diagnosis.ok(f"{address.shown}, version {version[:40]}.")

    async def room() -> Diagnosis:
        address = _address(settings)
        key = settings.weaviate_api_key.get_secret_value()
        try:
            closed = await asyncio.to_thread(count_closed, address, key, LIMIT_S)
        except VrError:  # an unreachable server is reported above; a key may lack this permission
            return Diagnosis.ok("The server does not tell.")
        if closed:
            return Diagnosis.fault(f"Shards that take no objects now: {closed}.", ROOM)
        return Diagnosis.ok("All shards take objects.")

    async def grpc() -> Diagnosis:
        address = _address(settings)
        try:
            async with asyncio.timeout(LIMIT_S):
                await probe_grpc(address)
        except TimeoutError:
            port = address.grpc_port
            raise away(address.shown, f"its gRPC port {port} accepts and says nothing.") from None
        return Diagnosis.ok(f"{address.grpc_host}:{address.grpc_port} answers.")

    return [Check("weaviate", rest), Check("weaviate grpc", grpc), Check("weaviate room", room)]


def _address(settings: WeaviateSettings) -> Address:
    return read_address(settings.weaviate_url, settings.weaviate_grpc_port)
