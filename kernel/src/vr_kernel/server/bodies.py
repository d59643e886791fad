"""The bodies of HTTP requests: how large, how slow, and of whom they are read at all."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY_S = 30.0
"""How long the body of a request may take to arrive."""
CLOSE = {"Connection": "close"}


class BodyLimit:
    """Refuses a request whose body is too large or too slow; keeps none of who may not ask.

    Args:
        app: what is asked then.
        most: bytes, however they are announced.
        within_s: from the head of the request to the last byte.
    """

    def __init__(self, app: ASGIApp, most: int, within_s: float = BODY_S) -> None:
        self._app = app
        self._most = most
        self._within_s = within_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its whole body, unless it is refused."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        announced = headers.get(b"content-length", b"0")
        may_ask = getattr(scope.get("user"), "is_authenticated", True)
        if not may_ask and (announced != b"0" or b"transfer-encoding" in headers):
            await self._app(scope, _no_body, self._then_close(receive, send))
        elif not announced.isdigit() or int(announced) > self._most:
            await self._too_large()(scope, receive, send)
        else:
            await self._whole(scope, receive, send)

    async def _whole(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(self._within_s):
                body = await self._read(receive)
        except TimeoutError:
            said = f"The request was not there within {self._within_s:g} s."
            await _refusal(408, "UNAVAILABLE", said, CLOSE)(scope, receive, send)
        except asyncio.CancelledError:  # Only a server that ends cancels its tasks.
            await _refusal(503, "CANCELLED", "The server ends.", CLOSE)(scope, receive, send)
        else:
            if body is not None and len(body) > self._most:
                await self._too_large()(scope, receive, send)
            elif body is not None:
                await self._app(scope, _replay(body, receive), send)

    async def _read(self, receive: Receive) -> bytes | None:
        """The body, or the beginning of one that is too large; None when the client is gone."""
        body = bytearray()
        while len(body) <= self._most:
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        return bytes(body)

    def _then_close(self, receive: Receive, send: Send) -> Send:
        """Sends the answer at once, and ends it when the body came or had its time.

        Who is hung up on while still sending may never see the answer.
        """

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
            elif not message.get("more_body"):
                await send({**message, "more_body": True})
                with suppress(TimeoutError, asyncio.CancelledError):
                    async with asyncio.timeout(self._within_s):
                        while (await receive()).get("more_body"):
                            pass
                message = {"type": "http.response.body"}
            await send(message)

        return answer

    def _too_large(self) -> Response:
        return _refusal(413, "TOO_LARGE", f"The request has more than {self._most:,} bytes.")


async def _no_body() -> Message:
    return {"type": "http.request"}


def _replay(body: bytes, receive: Receive) -> Receive:
    """Gives a body that was read already, then whatever comes after it."""
    first: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return first.pop() if first else await receive()

    return again


def _refusal(status: int, code: str, said: str, headers: dict[str, str] | None = None) -> Response:
    body = {"error": {"code": code, "message": said}}
    return JSONResponse(body, status, headers=headers)
