"""Google's resumable upload: a file in chunks, each resumed where it was cut off.

The SDK's own upload reads in the event loop, sends a chunk again from its start and gives up
after a broken connection; this one reads in threads, in blocks, and asks the service how much
arrived. Source: "Using files" of the Gemini API, and `X-Goog-Upload-Command: query` of
Google's resumable protocol.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from vr_kernel.errors import Code, VrError
from vr_kernel.gemini.errors import service_error, translated, unreadable
from vr_kernel.gemini.sources import Source

if TYPE_CHECKING:
    import httpx2

    from vr_kernel.gemini.pool import Account

CHUNK = 16 * 1024 * 1024
"""Bytes of one request; a multiple of the 256 KiB that the protocol demands."""
ATTEMPTS = 4
"""Times in a row that sending may fail without any progress."""
PAUSE_S = 0.5
OK = 200
Sent = Callable[[int, int], None]
"""Called with the number of bytes that have arrived, and of all."""


class ResumableUpload:
    """One file on its way to the service."""

    def __init__(self, account: Account, source: Source, mime: str, sent: Sent) -> None:
        self._account = account
        self._source = source
        self._mime = mime
        self._sent = sent
        self._address = ""

    async def run(self) -> dict[str, Any]:
        """Send everything, and return the service's description of the file.

        Raises:
            VrError: what the service or the network says, once resuming has not helped.
        """
        self._address = await self._start()
        offset, failures, cut = 0, 0, False
        while True:
            try:
                response = await (self._ask() if cut else self._send(offset))
                arrived = self._arrived(response, offset, asked=cut)
                if arrived == offset and not cut:
                    raise unreadable("an upload that does not get on")
            except VrError as error:
                failures += 1
                if not error.retryable or failures == ATTEMPTS:
                    raise
                cut = True
                await asyncio.sleep(PAUSE_S * (2 ** (failures - 1) - 1))
                continue
            failures = 0 if arrived > offset else failures
            offset, cut = arrived, False
            self._sent(offset, self._source.size)
            if _status(response) == "final":
                return _file(response)

    async def _start(self) -> str:
        account = self._account
        with translated(secret=account.key):
            response = await account.http.post(
                f"{account.base_url}/upload/{account.version}/files",
                json={"file": {"mimeType": self._mime, "sizeBytes": str(self._source.size)}},
                headers={
                    **account.headers,
                    "X-Goog-Upload-Protocol": "resumable",
                    "X-Goog-Upload-Command": "start",
                    "X-Goog-Upload-Header-Content-Length": str(self._source.size),
                    "X-Goog-Upload-Header-Content-Type": self._mime,
                },
            )
        self._check(response)
        address = response.headers.get("x-goog-upload-url")
        if not address:
            raise unreadable("no address to upload to")
        return _behind(account.base_url, address)

    async def _send(self, offset: int) -> httpx2.Response:
        end = min(offset + CHUNK, self._source.size)
        last = end == self._source.size
        with translated(secret=self._account.key):
            response = await self._account.http.post(
                self._address,
                content=self._source.blocks(offset, end),
                headers={
                    "X-Goog-Upload-Command": "upload, finalize" if last else "upload",
                    "X-Goog-Upload-Offset": str(offset),
                    "Content-Length": str(end - offset),
                },
            )
        self._check(response)
        if _status(response) not in {"active", "final"}:
            raise unreadable("no state of the upload")
        return response

    async def _ask(self) -> httpx2.Response:
        """Ask how much has arrived, after a request that was cut."""
        with translated(secret=self._account.key):
            response = await self._account.http.post(
                self._address, headers={"X-Goog-Upload-Command": "query"}
            )
        self._check(response)
        return response

    def _arrived(self, response: httpx2.Response, offset: int, *, asked: bool) -> int:
        """Read the number of bytes that the service has."""
        if _status(response) == "final":
            return self._source.size
        if asked:
            return int(response.headers.get("x-goog-upload-size-received") or 0)
        return min(offset + CHUNK, self._source.size)

    def _check(self, response: httpx2.Response) -> None:
        if response.status_code == OK:
            return
        try:
            body = response.json()
        except ValueError:
            body = None
        raise service_error(response.status_code, body, response.headers, secret=self._account.key)


async def wait_until_active(
    account: Account, name: str, deadline_s: float, waited: Callable[[float], None]
) -> dict[str, Any]:
    """Wait until the service has processed the file, and return it.

    Args:
        account: whose file it is.
        name: of the file, `files/...`.
        deadline_s: seconds until giving up.
        waited: called with the seconds so far.

    Raises:
        VrError: UNSUPPORTED when the service cannot read the file; UNAVAILABLE, category
            UPLOAD_NOT_READY, at the deadline.
    """
    began, pause = time.monotonic(), 0.2
    while True:
        file = await get_json(account, name)
        state = file.get("state", "ACTIVE")
        if state == "ACTIVE":
            return file
        if state == "FAILED":
            raise VrError(
                "Gemini cannot read this file.",
                Code.UNSUPPORTED,
                category="FILE_UNSUPPORTED",
                hint="Convert it to a common format, such as MP4, MP3, PNG or PDF.",
            )
        elapsed = time.monotonic() - began
        waited(elapsed)
        if elapsed + pause > deadline_s:
            raise VrError(
                f"Gemini did not work through the file within {deadline_s:g} s.",
                Code.UNAVAILABLE,
                category="UPLOAD_NOT_READY",
                hint="Try again; the upload itself is kept. [models] upload_deadline_s sets it.",
                retryable=True,
            )
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, 5.0)


async def get_json(account: Account, path: str) -> dict[str, Any]:
    """Get what the API has at a path, as JSON.

    Raises:
        VrError: by the status, or when there is no answer that can be read.
    """
    with translated(secret=account.key):
        response = await account.http.get(account.url(path), headers=account.headers)
        body = response.json() if response.content else {}
    if response.status_code != OK:
        raise service_error(response.status_code, body, response.headers, secret=account.key)
    if not isinstance(body, dict):
        raise unreadable("not an object")
    return body


def _behind(base_url: str, address: str) -> str:
    """The address below the configured base URL, which may be a gateway."""
    base = urlsplit(base_url)
    return urlunsplit(urlsplit(address)._replace(scheme=base.scheme, netloc=base.netloc))


def _status(response: httpx2.Response) -> str:
    return str(response.headers.get("x-goog-upload-status", ""))


def _file(response: httpx2.Response) -> dict[str, Any]:
    try:
        body = response.json()
        file = body.get("file", body)
    except (ValueError, AttributeError):
        file = {}
    if not isinstance(file, dict) or not file.get("uri") or not file.get("name"):
        raise unreadable("no file")
    return file
