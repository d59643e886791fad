"""Short names of files that tell them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from vr_kernel import visible_line

NAME_CHARS = 200


def short_names(places: Sequence[str]) -> list[str]:
    """Name each path or address by its last parts, as many as tell it from the others."""
    parts = [PurePosixPath(place.replace("\\", "/")).parts or (place,) for place in places]
    most = max(map(len, parts), default=0)
    names = [""] * len(places)
    open_ones = set(range(len(places)))
    for count in range(1, most + 1):
        tried = {at: "/".join(parts[at][-count:]) for at in open_ones}
        seen = Counter(tried.values())
        for at, name in tried.items():
            names[at] = name
        open_ones = {at for at in open_ones if seen[tried[at]] > 1}
    return _numbered([visible_line(name, NAME_CHARS) for name in names])


def _numbered(names: Sequence[str]) -> list[str]:
    """Number names that look the same once what is invisible in them is left out."""
    seen: Counter[str] = Counter()
    told = []
    for name in names:
        seen[name] += 1
        told.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return told
