"""Context caches: beginnings of requests that the service keeps."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from vr_testing.gemini import errors
from vr_testing.gemini.behaviour import Behaviour
from vr_testing.gemini.bill import audio_tokens, part_tokens
from vr_testing.gemini.errors import ApiError
from vr_testing.gemini.files import Files, timestamp
from vr_testing.gemini.request import RecordedRequest, look_up
from vr_testing.service.bill import text_tokens

DEFAULT_LIFETIME_S = 3600.0


@dataclass
class StoredCache:
    """One context cache."""

    id: str
    model: str
    display_name: str
    owner: str
    tokens: int
    audio_tokens: int
    expires: datetime
    gone: bool = False
    created: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def shown(self) -> dict[str, Any]:
        """The resource as JSON."""
        return {
            "name": f"cachedContents/{self.id}",
            "model": f"models/{self.model}",
            "displayName": self.display_name,
            "createTime": timestamp(self.created),
            "updateTime": timestamp(self.created),
            "expireTime": timestamp(self.expires),
            "usageMetadata": {"totalTokenCount": self.tokens},
        }


class Caches:
    """All context caches of one fake service."""

    def __init__(self, behaviour: Behaviour, files: Files) -> None:
        self._behaviour = behaviour
        self._files = files
        self._lock = threading.Lock()
        self._caches: dict[str, StoredCache] = {}

    def create(self, request: RecordedRequest) -> StoredCache:
        """Cache the beginning of later requests.

        Raises:
            ApiError: 400 when it is too small, 403 when it refers to a file that is gone.
        """
        self._files.check(request)
        tokens = part_tokens(request.parts, self._files.size_of) + text_tokens(request.system)
        if tokens < self._behaviour.min_cache_tokens:
            raise errors.cache_too_small(tokens, self._behaviour.min_cache_tokens)
        with self._lock:
            cache = StoredCache(
                id=f"fake{len(self._caches) + 1:08d}",
                model=request.model,
                display_name=str(look_up(request.body, "displayName", "")),
                owner=request.api_key,
                tokens=tokens,
                audio_tokens=audio_tokens(request.parts, self._files.size_of),
                expires=_expiry(request.body),
            )
            self._caches[cache.id] = cache
        return cache

    def get(self, name: str, key: str) -> StoredCache:
        """A cache by its id.

        Raises:
            ApiError: 403 when it is gone.
        """
        cache = self._caches.get(name)
        foreign = self._behaviour.own_files_only and cache is not None and cache.owner != key
        if cache is None or cache.gone or foreign or cache.expires <= datetime.now(UTC):
            raise errors.cache_gone()
        return cache

    def prolong(self, request: RecordedRequest) -> StoredCache:
        """Change the lifetime of a cache."""
        cache = self.get(request.name, request.api_key)
        cache.expires = _expiry(request.body)
        return cache

    def delete(self, request: RecordedRequest) -> dict[str, Any]:
        """Delete a cache; the answer is empty."""
        self.get(request.name, request.api_key).gone = True
        return {}

    def listed(self, request: RecordedRequest) -> list[dict[str, Any]]:
        """The caches that are visible to a key."""
        with self._lock:
            caches = list(self._caches.values())
        mine = [
            c for c in caches if not self._behaviour.own_files_only or c.owner == request.api_key
        ]
        return [cache.shown for cache in mine if not cache.gone]

    def tokens(self, request: RecordedRequest) -> int:
        """The cached tokens that a request builds on, 0 without a cache.

        Raises:
            ApiError: 403 when the cache is gone, 400 when the request does not fit it.
        """
        if not request.cached_content:
            return 0
        cache = self.get(request.cached_content, request.api_key)
        if cache.model != request.model:
            raise ApiError(
                400,
                f"Model used by GenerateContent request (models/{request.model}) and CachedContent "
                f"(models/{cache.model}) has to be the same.",
            )
        if request.system or look_up(request.generation, "tools"):
            raise ApiError(
                400,
                "CachedContent can not be used with GenerateContent request setting "
                "system_instruction, tools or tool_config.\n\nProposed fix: move those values to "
                "CachedContent from GenerateContent request.",
            )
        return cache.tokens

    def audio_tokens(self, request: RecordedRequest) -> int:
        """Those of the cached tokens that are sound.

        Raises:
            ApiError: as `tokens`.
        """
        found = request.cached_content
        return self.get(found, request.api_key).audio_tokens if found else 0

    def expire(self) -> None:
        """Expire all present caches."""
        with self._lock:
            for cache in self._caches.values():
                cache.gone = True


def _expiry(body: Any) -> datetime:
    if moment := look_up(body, "expireTime"):
        return datetime.fromisoformat(str(moment))
    seconds = float(str(look_up(body, "ttl") or DEFAULT_LIFETIME_S).removesuffix("s"))
    return datetime.now(UTC) + timedelta(seconds=seconds)
