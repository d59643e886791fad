"""Probes of a Weaviate server's two ports, made without its client."""

from __future__ import annotations

import asyncio
import http.client
import json
import ssl
from contextlib import suppress

from vr_plugin_knowledge.weaviate_store.address import Address
from vr_plugin_knowledge.weaviate_store.faults import away, translate

# RFC 9113, section 3.4: the client's connection preface, with an empty SETTINGS frame.
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_FRAME_HEAD = 9
_SETTINGS = 4
_CLOSED = b'"vectorIndexingStatus":"READONLY"'
_MOST_BYTES = 4_000_000


async def probe_grpc(address: Address) -> None:
    """Send the HTTP/2 preface to the gRPC port, and wait for the server's.

    The library itself retries a closed port for half a minute, and waits for a silent port until
    each call's time limit. The caller limits the time.

    Raises:
        VrError: UNAVAILABLE for a closed port, or one that speaks something else.
    """
    context = None
    if address.secure:
        context = ssl.create_default_context()
        context.set_alpn_protocols(["h2"])
    port = address.grpc_port
    try:
        reader, writer = await asyncio.open_connection(address.grpc_host, port, ssl=context)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise away(address.shown, f"its gRPC port {port} is closed ({reason}).") from error
    try:
        writer.write(_PREFACE)
        head = await reader.readexactly(_FRAME_HEAD)
    except (OSError, asyncio.IncompleteReadError) as error:
        raise away(address.shown, f"its port {port} does not speak gRPC.") from error
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
    if head[3] != _SETTINGS:
        raise away(address.shown, f"its port {port} does not speak gRPC.")


def read_version(address: Address, key: str, timeout: float) -> str:
    """The version that the REST service reports. Blocks for at most about `timeout` seconds.

    Raises:
        VrError: UNAVAILABLE, AUTH, or another error of the server.
    """
    try:
        return str(json.loads(_read(address, key, "/v1/meta", timeout))["version"])
    except (ValueError, KeyError, TypeError) as error:
        raise away(address.shown, "what answers there is no Weaviate.") from error


def count_closed(address: Address, key: str, timeout: float) -> int:
    """Count the shards of the server that accept no objects. Blocks as `read_version` does.

    Raises:
        VrError: as `read_version`.
    """
    return _read(address, key, "/v1/nodes?output=verbose", timeout).count(_CLOSED)


def _read(address: Address, key: str, path: str, timeout: float) -> bytes:
    kind = http.client.HTTPSConnection if address.secure else http.client.HTTPConnection
    connection = kind(address.host, address.port, timeout=timeout)
    try:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        body = answer.read(_MOST_BYTES)
    except (OSError, http.client.HTTPException) as error:
        reason = f"{type(error).__name__}."
        raise away(address.shown, f"its port {address.port} says nothing: {reason}") from error
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise translate(RuntimeError(f"status code: {answer.status}"), address.shown)
    return body
