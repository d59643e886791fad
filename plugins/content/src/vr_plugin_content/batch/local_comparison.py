"""Comparisons without a language model: names that several files have, and those of one alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from vr_plugin_content.results.batch import BatchContentItem, Comparison, SharedPoint

MADE_SO = (
    "Compared without a language model: by the names in the files alone, which does not say if they"
    " agree. `vr init` sets up a model."
)
MOST = 30
"""Most names that are said to be shared, and most of one file."""


def compare_locally(items: Sequence[BatchContentItem]) -> Comparison:
    """Set the analyses of files side by side by their names of people, places and things."""
    files: defaultdict[str, list[str]] = defaultdict(list)
    spelled: dict[str, str] = {}
    for item in items:
        for name in item.entities:
            spelled.setdefault(name.casefold(), name)
            files[name.casefold()].append(item.name)
    shared = sorted(
        (plain for plain, within in files.items() if len(within) > 1),
        key=lambda plain: (-len(files[plain]), plain),
    )
    common = [SharedPoint(text=spelled[each], files=files[each]) for each in shared[:MOST]]
    differences = []
    for item in items:
        own = [name for name in item.entities if len(files[name.casefold()]) == 1][:MOST]
        if own:
            differences.append(SharedPoint(text=f"Only here: {', '.join(own)}", files=[item.name]))
    return Comparison(
        summary=f"{len(items)} files; {_count(len(shared))} in more than one of them.",
        commonalities=common,
        differences=differences,
    )


def _count(names: int) -> str:
    return {0: "no name stands", 1: "one name stands"}.get(names, f"{names} names stand")
