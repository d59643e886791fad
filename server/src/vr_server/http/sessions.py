"""The sessions of clients over HTTP, and the limit of them for one principal."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vr_server.http.body_limit import no_body, principal_of

SESSION = b"mcp-session-id"
NOT_FOUND, REFUSED = 404, 400
OF_BODIES = (b"content-length", b"content-type", b"transfer-encoding")


class Sessions:
    """Ends the least recently used session of a principal that has too many.

    Its client then gets 404, as after an idle time-out, and begins a new session. A session
    with a request under way, or an open stream, is in use.

    Args:
        app: opens, serves and ends sessions.
        most: maximum number of sessions per principal.
        owner: the principal of requests that need no token.
    """

    def __init__(self, app: ASGIApp, most: int, owner: str) -> None:
        self._app = app
        self._most = most
        self._owner = owner
        # Principal -> session, the last used one last -> number of requests under way.
        self._known: dict[str, dict[bytes, int]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; a session that it opens may end another one."""
        who = principal_of(scope, self._owner) if scope["type"] == "http" else None
        if who is None:
            await self._app(scope, receive, send)
            return
        known = self._known.setdefault(who, {})
        asked = dict(scope["headers"]).get(SESSION, b"")
        before = dict(scope)
        opened = b""

        async def note(message: Message) -> None:
            nonlocal opened
            if message["type"] == "http.response.start":
                given = dict(message["headers"]).get(SESSION, b"")
                if given and not asked:
                    opened = given
                    known[given] = 1
                ended = scope["method"] == "DELETE" and message["status"] < REFUSED
                if ended or message["status"] == NOT_FOUND:
                    known.pop(asked, None)
            await send(message)

        if asked in known:
            known[asked] = known.pop(asked) + 1
        try:
            await self._app(scope, receive, note)
        finally:
            if (used := asked or opened) in known:
                known[used] = known.pop(used) - 1
        if opened:
            await self._make_room(before, known, opened)

    async def _make_room(self, scope: Scope, known: dict[bytes, int], kept: bytes) -> None:
        """End idle sessions, the longest idle first, until the limit holds."""
        idle = [each for each, under_way in known.items() if not under_way and each != kept]
        for session in idle[: max(0, len(known) - self._most)]:
            known.pop(session, None)
            await self._end(scope, session)

    async def _end(self, scope: Scope, session: bytes) -> None:
        left_out = (SESSION, *OF_BODIES)
        headers = [pair for pair in scope["headers"] if pair[0] not in left_out]
        asked = {**scope, "method": "DELETE", "headers": [*headers, (SESSION, session)]}
        await self._app(asked, no_body, _drop)


async def _drop(_message: Message) -> None:
    """Drop the answer, for which no client waits."""
