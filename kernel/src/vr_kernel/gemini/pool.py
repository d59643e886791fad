"""The keys of the Gemini API: one client each on one HTTP client, used in turn."""

from __future__ import annotations

import asyncio
import hashlib
import os
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from vr_kernel.config.model_settings import ModelsSettings
from vr_kernel.errors import Code, VrError
from vr_kernel.gemini.errors import exhausted, key_missing
from vr_kernel.gemini.response_tracking import ResponseTracking

if TYPE_CHECKING:
    import httpx2
    from google import genai

T = TypeVar("T")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Variables that name trusted certificates in other places than usual."""
BASE_URL = "https://generativelanguage.googleapis.com"
CONNECT_S = 20.0
REST_S = 5.0
"""Seconds that a refused key rests when the service does not say how long."""
REFUSED_REST_S = 300.0
"""Seconds that an invalid key rests while others are valid."""
SPARE_CONNECTIONS = 8
"""Connections for polls and uploads, in addition to those for requests to models."""


@dataclass(frozen=True, slots=True)
class Account:
    """One key, and the clients that use it. `hint` names it across runs, without revealing it."""

    hint: str
    key: str = field(repr=False)
    base_url: str
    version: str
    client: genai.Client = field(repr=False)
    http: httpx2.AsyncClient = field(repr=False)
    tracking: ResponseTracking = field(repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """The headers that authorise a request which does not go through the SDK."""
        return {"x-goog-api-key": self.key}

    def url(self, path: str) -> str:
        """An address of the API."""
        return f"{self.base_url}/{self.version}/{path}"


@dataclass(frozen=True, slots=True)
class _Rest:
    until: float
    told: bool
    """True when the service said how long; a rest that we chose does not block the last key."""


class Pool:
    """The accounts of the keys that are configured now.

    A quota belongs to a key and a model, so a key that is refused rests for that model only.
    """

    def __init__(self, settings: Callable[[], ModelsSettings]) -> None:
        self._settings = settings
        self._known: dict[tuple[str, str, str], Account] = {}
        self._rests: dict[tuple[str, str], _Rest] = {}
        self._turn = 0
        self._tracking = ResponseTracking()
        self._lock = asyncio.Lock()
        self._http: httpx2.AsyncClient | None = None
        self._blocking: httpx2.Client | None = None

    def check(self) -> None:
        """Check that there is a key.

        Raises:
            VrError: AUTH, saying where to get one.
        """
        if not self._keys():
            raise key_missing()

    async def accounts(self) -> list[Account]:
        """One account a key, in the order of the settings.

        Raises:
            VrError: AUTH when no key is configured.
        """
        self.check()
        settings = self._settings()
        place = (settings.gemini_base_url.rstrip("/") or BASE_URL, settings.gemini_api_version)
        wanted = [(key, *place) for key in self._keys()]
        if any(name not in self._known for name in wanted):
            async with self._lock:
                missing = [name for name in wanted if name not in self._known]
                await asyncio.to_thread(self._connect, missing, settings.concurrency)
        return [self._known[name] for name in wanted]

    async def run(
        self,
        model: str,
        work: Callable[[Account], Awaitable[T]],
        *,
        only: str = "",
        prefer: str = "",
    ) -> T:
        """Do `work` with the next key; one that is refused hands over to another.

        Args:
            model: whose quota is used.
            work: one attempt with a key; raises only `VrError`.
            only: hint of the one key that may be used.
            prefer: hint of the key that is used before others.

        Raises:
            VrError: QUOTA when every key rests, with the seconds until the first is back; and
                whatever `work` raises.
        """
        all_able = [a for a in await self.accounts() if not only or a.hint == only]
        if not all_able:
            raise VrError(
                "The key that this belongs to is no longer configured.",
                Code.NOT_FOUND,
                category="API_NOT_FOUND",
                hint="Configure the key again, or start over.",
            )
        left = list(all_able)
        while True:
            account = self._next(left, model, prefer)
            left.remove(account)
            try:
                return await work(account)
            except VrError as error:
                self._take_note(account, model, error, left)
                if not (error.code in {Code.QUOTA, Code.AUTH} and self._is_awake(left, model)):
                    self._say_when(error, all_able, model)
                    raise

    async def aclose(self) -> None:
        """Close every connection."""
        http, blocking = self._http, self._blocking
        self._http = self._blocking = None
        self._known.clear()
        if http is not None:
            await http.aclose()
        if blocking is not None:
            blocking.close()

    def _keys(self) -> list[str]:
        keys = [key.get_secret_value().strip() for key in self._settings().gemini_api_keys]
        return list(dict.fromkeys(key for key in keys if key))

    def _next(self, able: list[Account], model: str, prefer: str) -> Account:
        """The preferred key, or the next in turn; a resting key only when its rest is a guess."""
        now = time.monotonic()
        awake = [a for a in able if self._rest(a, model).until <= now]
        for account in awake:
            if account.hint == prefer:
                return account
        if awake:
            self._turn += 1
            return awake[(self._turn - 1) % len(awake)]
        soonest = min(able, key=lambda a: self._rest(a, model).until)
        rest = self._rest(soonest, model)
        if rest.told:
            raise exhausted(rest.until - now)
        return soonest

    def _rest(self, account: Account, model: str) -> _Rest:
        return self._rests.get((account.hint, model), _Rest(0.0, told=False))

    def _take_note(
        self, account: Account, model: str, error: VrError, others: list[Account]
    ) -> None:
        now = time.monotonic()
        if error.code is Code.QUOTA:
            told = error.retry_after is not None
            rest = _Rest(
                now + (REST_S if error.retry_after is None else error.retry_after), told=told
            )
        elif error.code is Code.AUTH and others:
            rest = _Rest(now + REFUSED_REST_S, told=False)
        else:
            return
        self._rests[account.hint, model] = rest

    def _is_awake(self, accounts: list[Account], model: str) -> bool:
        now = time.monotonic()
        return any(self._rest(account, model).until <= now for account in accounts)

    def _say_when(self, error: VrError, accounts: list[Account], model: str) -> None:
        """A quota is back with the first key that is, not with the last that was asked."""
        if error.code is Code.QUOTA and error.retry_after is not None:
            now = time.monotonic()
            rests = [self._rest(account, model) for account in accounts]
            error.retry_after = min([rest.until - now for rest in rests if rest.told])

    def _connect(self, names: list[tuple[str, str, str]], concurrency: int) -> None:
        import httpx2
        from google import genai
        from google.genai import types

        certificates = _certificates(*map(os.environ.get, CERTIFICATES))
        if self._http is None or self._blocking is None:
            most = concurrency + SPARE_CONNECTIONS
            self._blocking = httpx2.Client(verify=certificates)
            self._http = httpx2.AsyncClient(
                verify=certificates,
                limits=httpx2.Limits(max_connections=most, max_keepalive_connections=most),
                timeout=httpx2.Timeout(60, connect=CONNECT_S),
                event_hooks={"request": [_cap_connecting], "response": [self._tracking.note]},
            )
        for key, base_url, version in names:
            options = types.HttpOptions(
                base_url=base_url,
                api_version=version,
                httpx_client=self._blocking,
                httpx_async_client=self._http,
                async_client_args={"ssl": certificates},
            )
            client = genai.Client(api_key=key, vertexai=False, http_options=options)
            hint = hashlib.sha256(f"{base_url} {key}".encode()).hexdigest()[:12]
            self._known[key, base_url, version] = Account(
                hint, key, base_url, version, client, self._http, self._tracking
            )


@cache
def _certificates(*_places: str | None) -> ssl.SSLContext:
    """Read the trusted certificates, once per process; it takes 20 ms."""
    import httpx2

    return httpx2.create_ssl_context()


async def _cap_connecting(request: httpx2.Request) -> None:
    """Shorten the connect timeout, since the SDK applies one timeout to every phase."""
    timeout = request.extensions.get("timeout", {})
    timeout["connect"] = min(timeout.get("connect") or CONNECT_S, CONNECT_S)
