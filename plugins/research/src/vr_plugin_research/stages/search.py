"""`search`: asks the places, and puts what is new into the dossier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vr_kernel import Call, Code, VrError

from vr_plugin_research.dossier.dossier import Dossier
from vr_plugin_research.dossier.entries import Found, Query
from vr_plugin_research.gathering.addresses import plain_address
from vr_plugin_research.gathering.places import Place
from vr_plugin_research.stages.together import each_of

FUSION_K = 60
"""Rank constant of reciprocal rank fusion. Source: Cormack, Clarke, Buettcher, SIGIR 2009."""


async def search(
    call: Call,
    dossier: Dossier,
    queries: Sequence[Query],
    places: Sequence[Place],
    *,
    limit: int,
    at_once: int,
) -> list[VrError]:
    """Search every place for every query; returns the errors of those that failed.

    One failed search costs that search. Results are put in once each, those first that were found
    by several searches or near the top.
    """
    errors: list[VrError] = []

    async def one(asked: tuple[Query, Place]) -> list[Found]:
        query, place = asked

        async def work() -> list[dict[str, Any]]:
            found = await place.search(call, query.text, limit)
            return [each.model_dump(mode="json") for each in found]

        try:
            kept = await dossier.once(f"search/{place.name}/{query.text}", work)
        except VrError as error:
            if error.category == "LEASE_LOST":
                raise
            errors.append(error)
            return []
        except Exception as error:  # noqa: BLE001 - a faulty provider costs its search alone
            call.log.warning("a search failed", place=place.name, error=type(error).__name__)
            errors.append(_faulty(place.name))
            return []
        return [Found.model_validate(each) for each in kept]

    pairs = [(query, place) for query in queries for place in places]
    lists = await each_of(pairs, at_once, one)
    await _put(dossier, lists, queries[0].round if queries else 1)
    return errors


async def _put(dossier: Dossier, lists: Sequence[Sequence[Found]], number: int) -> None:
    known = {plain_address(each.address): each for each in dossier.found}
    scores: dict[str, float] = {}
    first: dict[str, Found] = {}
    for results in lists:
        for rank, each in enumerate(results, 1):
            plain = plain_address(each.address)
            scores[plain] = scores.get(plain, 0.0) + 1 / (FUSION_K + rank)
            first[plain] = _merged(first.get(plain, each), each)
    for plain in first.keys() & known.keys():
        await dossier.put(_merged(known[plain], first[plain]))
    fresh = [plain for plain in first if plain not in known]
    fresh.sort(key=lambda plain: -scores[plain])
    count = len(dossier.found)
    for at, plain in enumerate(fresh, count + 1):
        found = first[plain].model_copy(update={"id": at, "round": number})
        await dossier.put(found)


def _merged(one: Found, other: Found) -> Found:
    """A result with what another place tells of the same address, such as its retraction."""
    kind = "paper" if "paper" in (one.kind, other.kind) else one.kind
    told = {
        "details": {**other.details, **one.details},
        "published": one.published or other.published,
        "kind": one.kind if one.given else kind,
    }
    return one.model_copy(update=told)


def _faulty(place: str) -> VrError:
    return VrError(
        f"The search of {place} failed unexpectedly.",
        Code.INTERNAL,
        hint="`vr plugin list` shows the plugin that searches there; the log has the reason.",
    )
