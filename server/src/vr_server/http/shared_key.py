"""The secret that all servers on one state folder share; the first of them makes it."""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from vr_kernel import private_folder

KEY_BYTES = 32


def shared_key(folder: Path) -> bytes:
    """Return the key in a folder, which is made if it is missing; only the user can read it.

    Raises:
        OSError: when it can be neither read nor made.
    """
    path = folder / "request.key"
    if not path.exists():
        private_folder(folder)
        descriptor, made = tempfile.mkstemp(dir=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(KEY_BYTES))
            with suppress(FileExistsError):  # another server was first
                os.link(made, path)
        finally:
            Path(made).unlink()
    return path.read_bytes()
