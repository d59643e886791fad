"""Limits of HTTP request bodies: their size, their time, and the right to send one."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from contextlib import suppress
from typing import Any

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vr_server.http.connections import PLACE

BODY_S = 30.0
"""Seconds from the head of a request to the last byte of its body."""
REFUSED_S, REFUSED_BYTES = 5.0, 16_000_000
"""Seconds and bytes for which a refused body is still read: a client that is cut off while it sends
may never see the answer."""
MOST_BRACKETS = 200_000
"""Maximum lists and objects in a body. It is parsed in one go, which blocks all other requests."""
MOST_NAMES = 100_000
"""Maximum number of names in all objects of a body together."""
_NAME = re.compile(rb'"\s*:')
HALF_SENT = 32
"""Half-sent bodies of the largest size allowed per principal; of smaller ones, more."""
CLOSE = {"Connection": "close"}
AGAIN = CLOSE | {"Retry-After": "1"}


class TooManyHalvesError(Exception):
    """One principal has too many half-sent bodies."""


class BodyLimit:
    """Refuses bodies that are too large or too slow, and reads none without a valid token.

    Args:
        app: gets the requests that pass.
        most: maximum bytes of a body, whatever its header says.
        owner: the principal whose requests are still accepted when others send too many.
    """

    def __init__(
        self,
        app: ASGIApp,
        most: int,
        owner: str,
    ) -> None:
        self._app = app
        self._most = most
        self._owner = owner
        self._halves: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its whole body, unless it is refused."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        announced = headers.get(b"content-length", b"0")
        who = principal_of(scope, self._owner)
        if who is None and (announced != b"0" or b"transfer-encoding" in headers):
            await self._app(scope, no_body, self._then_close(receive, send))
        elif not announced.isdigit() or int(announced) > self._most:
            await self._too_large()(scope, receive, self._then_close(receive, send))
        else:
            await self._whole(scope, receive, send, who)

    async def _whole(self, scope: Scope, receive: Receive, send: Send, who: str | None) -> None:
        refused = None
        body: bytes | None = b""
        try:
            async with asyncio.timeout(BODY_S):
                body = await self._read(receive, who or "")
        except TooManyHalvesError:
            refused = _refusal(503, "UNAVAILABLE", "Too much is being sent at once.", AGAIN)
        except TimeoutError:
            said = f"The request was not there within {BODY_S:g} s."
            await _refusal(408, "UNAVAILABLE", said, CLOSE)(scope, receive, send)
            return
        except asyncio.CancelledError:  # Only a stopping server cancels its tasks.
            await _refusal(503, "CANCELLED", "The server ends.", CLOSE)(scope, receive, send)
            return
        if body is None:
            return
        if len(body) > self._most:
            refused = self._too_large()
        elif body.count(b"[") + body.count(b"{") > MOST_BRACKETS:
            said = f"The request has more than {MOST_BRACKETS:,} lists and objects."
            refused = _refusal(413, "TOO_LARGE", said)
        elif sum(1 for _ in _NAME.finditer(body)) > MOST_NAMES:
            said = f"The request has more than {MOST_NAMES:,} names in its objects."
            refused = _refusal(413, "TOO_LARGE", said)
        if refused is None:
            await self._work(scope, _replay(body, receive), send, who)
        else:
            del body  # a refusal may take a while
            await refused(scope, receive, self._then_close(receive, send))

    async def _work(self, scope: Scope, receive: Receive, send: Send, who: str | None) -> None:
        place = scope.get("state", {}).get(PLACE)
        if who is None or place is None:
            await self._app(scope, receive, send)
            return
        with place.working(who, is_owner=who == self._owner) as admitted:
            if admitted:
                await self._app(scope, receive, send)
                return
        refused = _refusal(503, "UNAVAILABLE", "Too many requests are under way.", AGAIN)
        await refused(scope, receive, send)

    async def _read(self, receive: Receive, who: str) -> bytes | None:
        """Read the body, or the start of a too large one; None when the client has disconnected."""
        body = bytearray()
        try:
            while len(body) <= self._most:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                part = message.get("body", b"")
                self._halves[who] += len(part)
                body += part
                if not message.get("more_body"):
                    break
                if self._halves[who] > HALF_SENT * self._most:
                    raise TooManyHalvesError
        finally:
            self._halves[who] -= len(body)
        return bytes(body)

    def _then_close(self, receive: Receive, send: Send) -> Send:
        """Send the answer at once, and end it after the body, or enough of it, has arrived."""

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                told = [pair for pair in message["headers"] if pair[0] != b"connection"]
                message = {**message, "headers": [*told, (b"connection", b"close")]}
            elif not message.get("more_body"):
                await send({**message, "more_body": True})
                with suppress(TimeoutError, asyncio.CancelledError):
                    async with asyncio.timeout(REFUSED_S):
                        await _read_out(receive)
                message = {"type": "http.response.body"}
            await send(message)

        return answer

    def _too_large(self) -> Response:
        return _refusal(413, "TOO_LARGE", f"The request has more than {self._most:,} bytes.")


def principal_of(scope: Scope, owner: str) -> str | None:
    """Return the principal of a request: the owner if it needs no token, None if it lacks one."""
    user = scope.get("user")
    if user is None:
        return owner
    return user.access_token.client_id if user.is_authenticated else None


async def _read_out(receive: Receive) -> None:
    room = REFUSED_BYTES
    while room > 0:
        message = await receive()
        room -= len(message.get("body", b""))
        if not message.get("more_body"):
            break


async def no_body() -> Message:
    """Receive an empty body."""
    return {"type": "http.request"}


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a body that was already read, then whatever follows it."""
    first: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return first.pop() if first else await receive()

    return again


def _refusal(status: int, code: str, said: str, headers: dict[str, str] | None = None) -> Response:
    body = {"error": {"code": code, "message": said}}
    return JSONResponse(body, status, headers=headers)
