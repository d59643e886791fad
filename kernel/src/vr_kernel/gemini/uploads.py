"""Files that the service holds: equal content is uploaded once per account, and used again."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from vr_kernel.config.model_settings import ModelsSettings
from vr_kernel.errors import Code, VrError
from vr_kernel.gemini.errors import is_gone
from vr_kernel.gemini.pool import Account
from vr_kernel.gemini.registry import KeptAtGemini, Upload
from vr_kernel.gemini.resumable import ResumableUpload, wait_until_active
from vr_kernel.gemini.sources import Source
from vr_kernel.generation import Media
from vr_kernel.progress import Report, silent
from vr_kernel.running.joining import Joined

LARGEST = 2 * 1024**3
"""Maximum size of one file, in bytes. Source: "Files API" of the Gemini API."""
LIFETIME_S = 48 * 3600.0
"""Seconds that the service keeps a file, where its answer does not say. Same source."""
MARGIN_S = 1800.0
"""A file that expires sooner is not used any more: the request itself takes time."""


class Uploads:
    """Brings files to the service."""

    def __init__(self, registry: KeptAtGemini, settings: Callable[[], ModelsSettings]) -> None:
        self._registry = registry
        self._settings = settings
        self._under_way: Joined[Upload] = Joined()

    async def ensure(self, account: Account, media: Media, report: Report = silent) -> Upload:
        """Return a file that the account can use, uploading it if it is not there.

        Raises:
            VrError: TOO_LARGE above 2 GiB; UNSUPPORTED when Gemini cannot read it; what the
                service or the network says.
        """
        source = Source(media)
        digest = await source.digest()
        return await self._under_way.run(
            (digest, media.mime, account.hint),
            lambda: self._ensure(account, source, media.mime, digest, report),
        )

    async def holder(self, digests: list[str]) -> str:
        """The account that holds the most of these contents, empty for none."""
        held = [u.account for digest in digests for u in await self._registry.uploads_of(digest)]
        return max(held, key=held.count) if held else ""

    async def at(self, uri: str) -> Upload | None:
        """Find an uploaded file by its address."""
        return await self._registry.upload_at(uri)

    async def forget(self, uri: str) -> None:
        """Forget an upload that the service no longer has."""
        await self._registry.forget_upload(uri)

    async def _ensure(
        self, account: Account, source: Source, mime: str, digest: str, report: Report
    ) -> Upload:
        known = await self._registry.upload(digest, mime, account.hint)
        if known is not None and known.active:
            return known
        if known is not None:
            found = await self._revived(account, known, report)
            if found is not None:
                return found
        upload = await self._send(account, source, mime, digest, report)
        return await self._activated(account, upload, report)

    async def _revived(self, account: Account, known: Upload, report: Report) -> Upload | None:
        """Wait for an upload of an earlier run to be ready; None when it is gone."""
        try:
            return await self._activated(account, known, report)
        except VrError as error:
            if not is_gone(error):
                raise
            await self._registry.forget_upload(known.uri)
            return None

    async def _send(
        self, account: Account, source: Source, mime: str, digest: str, report: Report
    ) -> Upload:
        if source.size > LARGEST:
            raise VrError(
                f"The file has {source.size / 1024**3:.1f} GiB; Gemini takes at most 2 GiB.",
                Code.TOO_LARGE,
                category="FILE_TOO_LARGE",
                hint="Cut the file, or convert it to a smaller one.",
            )

        def sent(done: int, total: int) -> None:
            report(done, total, "Uploading to Gemini")

        file = await ResumableUpload(account, source, mime, sent).run()
        upload = Upload(
            digest=digest,
            mime=mime,
            account=account.hint,
            uri=file["uri"],
            name=file["name"],
            size=source.size,
            expires_at=_end(file),
            active=file.get("state") == "ACTIVE",
        )
        await self._registry.keep_upload(upload)
        return upload

    async def _activated(self, account: Account, upload: Upload, report: Report) -> Upload:
        if upload.active:
            return upload

        def waited(seconds: float) -> None:
            report(seconds, None, "Gemini works through the file")

        deadline = self._settings().upload_deadline_s
        try:
            await wait_until_active(account, upload.name, deadline, waited)
        except VrError as error:
            if error.code is Code.UNSUPPORTED:
                await self._registry.forget_upload(upload.uri)
            raise
        ready = upload.model_copy(update={"active": True})
        await self._registry.keep_upload(ready)
        return ready


def _end(file: dict[str, Any]) -> float:
    """Return the Unix time after which the file is not used any more."""
    try:
        end = datetime.fromisoformat(str(file["expirationTime"])).timestamp()
    except (KeyError, ValueError):
        end = time.time() + LIFETIME_S
    return end - MARGIN_S
