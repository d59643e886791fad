"""SQLite files, and the handling of damaged files and full disks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.storage.damaged_rows import LeftOut
    from vr_kernel.storage.database_damage import begin_anew, leave, put_aside
    from vr_kernel.storage.database_errors import (
        explained,
        row_damaged,
        set_aside,
        tell_emptied,
        told_by,
        unwritten,
    )
    from vr_kernel.storage.database_faults import (
        DAMAGED,
        FAULTS,
        is_busy,
        is_damage,
        is_full,
        is_passing,
        is_useless,
        require_own,
        wording,
    )
    from vr_kernel.storage.database_health import (
        examine_file,
        is_no_damage,
        reading,
        require_free,
        unreadable,
    )
    from vr_kernel.storage.file_identity import FileIdentity, identities
    from vr_kernel.storage.patience import Patience
    from vr_kernel.storage.read_only import read_unwritable
    from vr_kernel.storage.sound_rows import is_sound, read_text, shown_key

__all__ = [
    "DAMAGED",
    "FAULTS",
    "FileIdentity",
    "LeftOut",
    "Patience",
    "begin_anew",
    "examine_file",
    "explained",
    "identities",
    "is_busy",
    "is_damage",
    "is_full",
    "is_no_damage",
    "is_passing",
    "is_sound",
    "is_useless",
    "leave",
    "put_aside",
    "read_text",
    "read_unwritable",
    "reading",
    "require_free",
    "require_own",
    "row_damaged",
    "set_aside",
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
        "damaged_rows": "LeftOut",
        "database_damage": "begin_anew leave put_aside",
        "database_errors": "explained row_damaged set_aside tell_emptied told_by unwritten",
        "database_faults": "DAMAGED FAULTS is_busy is_damage is_full is_passing "
        "is_useless require_own wording",
        "database_health": "examine_file is_no_damage reading require_free unreadable",
        "file_identity": "FileIdentity identities",
        "patience": "Patience",
        "read_only": "read_unwritable",
        "sound_rows": "is_sound read_text shown_key",
    },
)
