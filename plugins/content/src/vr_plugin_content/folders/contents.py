"""Contents of the files of a folder: their digests, and whether they are text at all."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from vr_kernel import VrError
from vr_kernel.files import Policy

from vr_plugin_content.folders.file_rules import is_readable, most_bytes
from vr_plugin_content.folders.listing import FileStamp, Listing, Reason
from vr_plugin_content.formats.kinds import HEAD_BYTES
from vr_plugin_content.settings import ContentSettings

BLOCK_BYTES = 262_144


def digest_files(
    policy: Policy,
    folder: str | Path,
    listing: Listing,
    settings: ContentSettings,
    known: Mapping[str, str],
) -> dict[str, str]:
    """Return the SHA-256 of each file of a listing, by its path in order; blocks.

    Those of a binary file, and of an empty one, are empty. A file that cannot be read, or has
    grown too large, has none. What is left out is counted in the listing.

    Args:
        policy: opens the files.
        folder: that was listed.
        listing: of it.
        settings: of the plugin, for its bounds.
        known: digests that need not be found out again, see `known_digests`.
    """
    found: dict[str, str] = {}
    for stamp in listing.files:
        digest = known.get(stamp.path)
        if digest is None:
            digest = _digest(policy, Path(folder), stamp, most_bytes(stamp.path, settings))
        if digest is None:
            listing.skip(Reason.UNREADABLE)
            continue
        if not digest and stamp.size:
            listing.skip(Reason.BINARY)
        found[stamp.path] = digest
    return found


def _digest(policy: Policy, folder: Path, stamp: FileStamp, most: int) -> str | None:
    """Return the digest of a file; None when it cannot be read, or is larger than it may be."""
    try:
        with policy.open_file(folder / stamp.path) as file:
            block = file.read(HEAD_BYTES)
            if not block or not is_readable(stamp.path, block):
                return ""
            digest, size = hashlib.sha256(), 0
            while block and size <= most:
                digest.update(block)
                size += len(block)
                block = file.read(BLOCK_BYTES)
    except (VrError, OSError):
        return None
    return digest.hexdigest() if size <= most else None
