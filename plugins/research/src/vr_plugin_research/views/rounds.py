"""Rounds of research as steps, and the searches that were made in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vr_kernel.views import Block, Cell, Step, Steps, Table

from vr_plugin_research.results.report import Round
from vr_plugin_research.views.parts import counted, percent


def rounds(items: Sequence[Round]) -> Iterator[Block]:
    """A step for each round, and a table of the searches."""
    if items:
        yield Steps([_step(each) for each in items], title="Rounds", detail=True)
    rows: list[list[Cell]] = [[each.number, query] for each in items for query in each.queries]
    if rows:
        yield Table(["Round", "Search"], rows, title="Searches", detail=True)


def _step(each: Round) -> Step:
    new = f", {percent(each.novelty)} of them new" if each.findings else ""
    text = (
        f"{counted(len(each.queries), 'search', 'searches')}, {each.found:,} found,"
        f" {each.kept:,} kept, {each.read:,} read, {counted(each.findings, 'finding')}{new}"
    )
    return Step(f"Round {each.number}", "done", text=text)
