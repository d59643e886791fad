"""The file store: resumable uploads, processing, expiry."""

from __future__ import annotations

import base64
import hashlib
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from vr_testing.gemini import errors
from vr_testing.gemini.behaviour import Behaviour
from vr_testing.gemini.errors import ApiError
from vr_testing.gemini.request import RecordedRequest, look_up

if TYPE_CHECKING:
    from hashlib import _Hash

ADDRESS = "https://generativelanguage.googleapis.com/v1beta/files/"
LIFETIME = timedelta(hours=48)
GRANULARITY = 8 * 1024 * 1024
"""The parts of an upload are multiples of this many bytes; announced, not enforced."""


def timestamp(moment: datetime) -> str:
    """A moment as the service writes it."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


@dataclass
class StoredFile:
    """One file; its bytes are counted and hashed, not kept."""

    id: str
    mime: str
    display_name: str
    owner: str
    polls_left: int
    failed: bool
    received: int = 0
    whole: bool = False
    expired: bool = False
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    digest: _Hash = field(default_factory=hashlib.sha256)

    @property
    def state(self) -> str:
        """PROCESSING, ACTIVE or FAILED."""
        if self.polls_left:
            return "PROCESSING"
        return "FAILED" if self.failed else "ACTIVE"

    @property
    def shown(self) -> dict[str, Any]:
        """The resource as JSON."""
        hexadecimal = self.digest.hexdigest().encode()
        return {
            "name": f"files/{self.id}",
            "displayName": self.display_name,
            "mimeType": self.mime,
            "sizeBytes": str(self.received),
            "createTime": timestamp(self.created),
            "updateTime": timestamp(self.created),
            "expirationTime": timestamp(self.created + LIFETIME),
            "sha256Hash": base64.b64encode(hexadecimal).decode(),
            "uri": ADDRESS + self.id,
            "state": self.state,
            "source": "UPLOADED",
            **({"error": {"code": 3, "message": "Unreadable."}} if self.state == "FAILED" else {}),
        }


class Files:
    """All files of one fake service."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self._lock = threading.Lock()
        self._files: dict[str, StoredFile] = {}

    def begin(self, request: RecordedRequest) -> StoredFile:
        """Begin an upload; the file's id is also that of the upload."""
        told = look_up(request.body, "file") or {}
        mime = request.headers.get("x-goog-upload-header-content-type", "")
        with self._lock:
            name = str(look_up(told, "name") or "").removeprefix("files/")
            file = StoredFile(
                id=name or f"fake{len(self._files) + 1:08d}",
                mime=str(look_up(told, "mimeType") or mime or "application/octet-stream"),
                display_name=str(look_up(told, "displayName", "")),
                owner=request.api_key,
                polls_left=self._behaviour.file_polls,
                failed=self._behaviour.processing_fails,
            )
            if file.id in self._files:
                raise ApiError(409, f"File {file.id} already exists.", status="ALREADY_EXISTS")
            self._files[file.id] = file
        return file

    def receive(
        self, request: RecordedRequest, data: Iterable[bytes], *, cut: bool = False
    ) -> StoredFile:
        """Take bytes of an upload, from the offset that the client names.

        Args:
            request: the request of these bytes.
            data: the bytes.
            cut: whether more should have come, so that the upload cannot be whole yet.
        """
        file = self.uploading(request)
        offset = int(request.headers.get("x-goog-upload-offset", "0"))
        if offset != file.received or file.whole:
            raise ApiError(400, f"Upload has {file.received} bytes; {offset} does not continue it.")
        for chunk in data:
            file.digest.update(chunk)
            file.received += len(chunk)
        command = request.headers.get("x-goog-upload-command", "")
        file.whole = "finalize" in command and not cut
        return file

    def uploading(self, request: RecordedRequest) -> StoredFile:
        """The file that an upload URL belongs to."""
        file = self._files.get(request.query.get("upload_id", ""))
        if file is None:
            raise ApiError(404)
        return file

    def poll(self, request: RecordedRequest) -> dict[str, Any]:
        """The requested resource; each poll brings its processing closer to the end."""
        file = self._seen(request.name, request.api_key)
        with self._lock:
            shown = file.shown
            file.polls_left = max(0, file.polls_left - 1)
        return shown

    def delete(self, request: RecordedRequest) -> dict[str, Any]:
        """Delete a file; the answer is empty."""
        file = self._seen(request.name, request.api_key)
        with self._lock:
            self._files.pop(file.id, None)
        return {}

    def listed(self, request: RecordedRequest) -> list[dict[str, Any]]:
        """The files that are visible to a key."""
        with self._lock:
            files = list(self._files.values())
        return [file.shown for file in files if self._is_seen(file, request.api_key)]

    def check(self, request: RecordedRequest) -> None:
        """Check that a model may read every file that the request refers to.

        Raises:
            ApiError: 403 for one that is gone, 400 for one that is not ACTIVE.
        """
        for name in request.file_ids:
            if self._seen(name, request.api_key).state != "ACTIVE":
                raise ApiError(
                    400,
                    f"The File {name} is not in an ACTIVE state and usage is not allowed.",
                    status="FAILED_PRECONDITION",
                )

    def expire(self) -> None:
        """Expire all present files."""
        with self._lock:
            for file in self._files.values():
                file.expired = True

    def size_of(self, address: str) -> int | None:
        """Bytes of the file at a URL, None when it is not an upload."""
        file = self._files.get(address.rsplit("/files/", 1)[-1])
        return None if file is None else file.received

    def _seen(self, name: str, key: str) -> StoredFile:
        file = self._files.get(name)
        if file is None or not self._is_seen(file, key):
            raise errors.file_forbidden(name)
        return file

    def _is_seen(self, file: StoredFile, key: str) -> bool:
        foreign = self._behaviour.own_files_only and file.owner != key
        return file.whole and not file.expired and not foreign
