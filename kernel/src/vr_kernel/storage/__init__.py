"""SQLite files, and the handling of damaged files and full disks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.storage.database_damage import begin_anew, put_aside
    from vr_kernel.storage.database_errors import explained, tell_emptied, told_by, unwritten
    from vr_kernel.storage.database_faults import (
        DAMAGED,
        FAULTS,
        is_busy,
        is_damage,
        is_full,
        wording,
    )
    from vr_kernel.storage.database_health import is_no_damage, reading, require_free, unreadable
    from vr_kernel.storage.patience import Patience
    from vr_kernel.storage.read_only import read_unwritable
    from vr_kernel.storage.sound_rows import is_sound, read_text, shown_key

__all__ = [
    "DAMAGED",
    "FAULTS",
    "Patience",
    "begin_anew",
    "explained",
    "is_busy",
    "is_damage",
    "is_full",
    "is_no_damage",
    "is_sound",
    "put_aside",
    "read_text",
    "read_unwritable",
    "reading",
    "require_free",
    "shown_key",
    "tell_emptied",
    "told_by",
    "unreadable",
    "unwritten",
    "wording",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "database_damage": "begin_anew put_aside",
        "database_errors": "explained tell_emptied told_by unwritten",
        "database_faults": "DAMAGED FAULTS is_busy is_damage is_full wording",
        "database_health": "is_no_damage reading require_free unreadable",
        "patience": "Patience",
        "read_only": "read_unwritable",
        "sound_rows": "is_sound read_text shown_key",
    },
)
