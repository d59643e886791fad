"""SQLite files: opened, looked after when damaged or full, and the cache of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.storage.database_damage import (
        begin_anew,
        damaged,
        leave,
        put_aside,
        row_damaged,
        set_aside,
        unwritten,
    )
    from vr_kernel.storage.database_faults import (
        CLEAN,
        DAMAGED,
        FAULTS,
        UNAVAILABLE,
        Identity,
        LeftOut,
        Patience,
        explained,
        identities,
        is_busy,
        is_damage,
        is_full,
        is_io_error,
        is_passing,
        is_sound,
        is_useless,
        read_text,
        require_own,
        shown_key,
        tell_emptied,
        told_by,
        wording,
    )
    from vr_kernel.storage.database_health import (
        examine_file,
        is_no_damage,
        reading,
        require_free,
        unreadable,
    )
    from vr_kernel.storage.read_only import has_room, read_unwritable

__all__ = [  # noqa: RUF022 - sorted as a dictionary is
    "CLEAN",
    "DAMAGED",
    "FAULTS",
    "Identity",
    "LeftOut",
    "Patience",
    "UNAVAILABLE",
    "begin_anew",
    "damaged",
    "examine_file",
    "explained",
    "has_room",
    "identities",
    "is_busy",
    "is_damage",
    "is_full",
    "is_io_error",
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
        "database_damage": "begin_anew damaged leave put_aside row_damaged set_aside unwritten",
        "database_faults": "CLEAN DAMAGED FAULTS Identity LeftOut Patience "
        "UNAVAILABLE explained identities is_busy is_damage "
        "is_full is_io_error is_passing is_sound is_useless "
        "read_text require_own shown_key tell_emptied "
        "told_by wording",
        "database_health": "examine_file is_no_damage reading require_free unreadable",
        "read_only": "has_room read_unwritable",
    },
)
