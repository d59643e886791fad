"""A view: what there is to see of a result, of records or of a source, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from vr_kernel.views import blocks, links
from vr_kernel.views.blocks import Block
from vr_kernel.views.validation import NestedTooDeeplyError, Validator

MORE = "There are more."
"""A note of a view that holds a part; a front door adds its own way to the rest."""
MOST_NESTED = 8
"""Most `Compare` blocks within each other."""


@dataclass(frozen=True, slots=True)
class View:
    """A title, a few words about it, and the blocks, the most important ones first.

    A view is checked when it is made: lists become tuples, and signs that nobody can see are
    removed from its texts, so that every way of showing it may rely on it.

    Attributes:
        title: of what is shown.
        blocks: in the order in which they are read.
        about: short facts for the line below the title, such as a length or a date.
        source: the web address or path of what it is about, if that is one thing.
        notes: remarks for the reader: what is missing, what could not be shown.

    Raises:
        TypeError: for a value of another type than its block takes, and for more than 8 `Compare`
            blocks within each other.
    """

    title: str
    blocks: Sequence[Block] = ()
    about: Sequence[str] = ()
    source: str = ""
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Check it, and clean its texts."""
        for name, value in validator().validated(self).items():
            object.__setattr__(self, name, value)
        if _nested(self) > MOST_NESTED:
            message = f"at most {MOST_NESTED} Compare blocks stand within each other"
            raise NestedTooDeeplyError(message)


@dataclass(frozen=True, slots=True)
class Compare(Block):
    """Two views side by side; at most 8 of these blocks stand within each other."""

    left: View
    right: View


def rechecked(view: View) -> View:
    """The view made anew, as whoever made it may have changed it after it was checked.

    Raises:
        TypeError: for a value that its block does not take.
    """
    made: dict[int, View] = {}

    def again(it: View) -> View:
        if id(it) not in made:
            blocks = [compared(each) if type(each) is Compare else each for each in it.blocks]
            made[id(it)] = View(it.title, blocks, it.about, it.source, it.notes)
        return made[id(it)]

    def compared(both: Compare) -> Compare:
        return replace(both, left=again(both.left), right=again(both.right))

    return again(view)


def _nested(view: View) -> int:
    """Count the `Compare` blocks that stand within each other; each view is looked at once."""
    known: dict[int, int] = {}

    def count(it: View) -> int:
        if id(it) not in known:
            both = [each for each in it.blocks if isinstance(each, Compare)]
            within = (1 + max(count(each.left), count(each.right)) for each in both)
            known[id(it)] = max(within, default=0)
        return known[id(it)]

    return count(view)


@cache
def validator() -> Validator:
    """Return what checks views, made at the first view."""
    return Validator({**vars(links), **vars(blocks), "View": View, "Compare": Compare}, Block, View)
