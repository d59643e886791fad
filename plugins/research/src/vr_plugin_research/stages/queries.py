"""`ask`: decides what is searched next."""

from __future__ import annotations

from collections.abc import Sequence

from vr_plugin_research.analysts.analyst import Analyst, NewQuery
from vr_plugin_research.dossier.dossier import Dossier
from vr_plugin_research.dossier.entries import Query


async def ask(
    dossier: Dossier, analyst: Analyst, number: int, gaps: Sequence[int], most: int
) -> list[Query]:
    """Decide the searches of a round: those of the plan in the first, then those of an analyst.

    Args:
        dossier: has the questions.
        analyst: proposes searches for what is still open.
        number: of the round, from 1.
        gaps: numbers of the open questions, from 0.
        most: searches of a round.
    """
    made = {query.text.casefold() for query in dossier.queries}
    asked = _planned(dossier) if number == 1 else await analyst.queries(dossier, gaps, most)
    fresh: dict[str, NewQuery] = {}
    for each in asked:
        if (plain := each.text.casefold()) not in made:
            fresh.setdefault(plain, each)
    queries = [
        Query(
            id=f"{number}/{at}",
            round=number,
            text=each.text,
            question=each.question,
            reason=each.reason,
        )
        for at, each in enumerate([*fresh.values()][:most], 1)
    ]
    await dossier.put(*queries)
    return queries


def _planned(dossier: Dossier) -> list[NewQuery]:
    """The searches of the plan, the first of each question before the second of any."""
    rows = [each.queries or [each.question] for each in dossier.questions]
    longest = max((len(row) for row in rows), default=0)
    return [
        NewQuery(row[at], number)
        for at in range(longest)
        for number, row in enumerate(rows)
        if at < len(row)
    ]
