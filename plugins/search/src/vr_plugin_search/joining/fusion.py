"""Lists of several services as one: equal things once, ordered by reciprocal rank.

Reciprocal rank fusion is by G. V. Cormack, C. L. A. Clarke and S. Büttcher, "Reciprocal Rank Fusion
outperforms Condorcet and individual Rank Learning Methods", SIGIR 2009; k is the paper's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")
K = 60


@dataclass(slots=True)
class Group(Generic[T]):
    """Things that are one: all forms of it, in the order of the services, and its score."""

    forms: list[T] = field(default_factory=list)
    ranks: dict[int, int] = field(default_factory=dict)
    first: tuple[int, int] = (0, 0)

    @property
    def score(self) -> float:
        """The sum over the lists, in each of which only the best place counts."""
        return sum(1 / (K + rank) for rank in self.ranks.values())


def fuse(
    lists: Sequence[Sequence[T]], identities: Callable[[T], Iterable[str]]
) -> list[Sequence[T]]:
    """Return things with all their forms, the best first.

    Args:
        lists: the results of each service, best first.
        identities: of a thing; two that share one are the same, and so are those that a third one
            has something in common with.
    """
    groups: list[Group[T]] = []
    known: dict[str, Group[T]] = {}
    for number, each in enumerate(lists):
        for rank, item in enumerate(each, 1):
            names = list(identities(item))
            group = _joined(groups, known, names) or _begun(groups, (rank, number))
            group.forms.append(item)
            group.ranks.setdefault(number, rank)
            known.update(dict.fromkeys(names, group))
    ordered = sorted(groups, key=lambda it: (-it.score, it.first))
    return [group.forms for group in ordered]


def _begun(groups: list[Group[T]], first: tuple[int, int]) -> Group[T]:
    group: Group[T] = Group(first=first)
    groups.append(group)
    return group


def _joined(
    groups: list[Group[T]], known: dict[str, Group[T]], names: Iterable[str]
) -> Group[T] | None:
    """The group that these names stand for; several become one."""
    found = list({id(known[name]): known[name] for name in names if name in known}.values())
    if not found:
        return None
    whole, *others = found
    for other in others:
        whole.forms += other.forms
        whole.first = min(whole.first, other.first)
        for number, rank in other.ranks.items():
            whole.ranks[number] = min(rank, whole.ranks.get(number, rank))
        groups[:] = [group for group in groups if group is not other]
        for name, group in known.items():
            if group is other:
                known[name] = whole
    return whole
