"""The filters of a search, from what a client wrote to conditions on fields."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from vr_kernel import Code, Filter, RecordKind, VrError

from vr_plugin_knowledge.matching.facets import can_filter

LISTED = 5


def build_filters(
    values: dict[str, str | None], date_from: str | None, date_to: str | None
) -> tuple[Filter, ...]:
    """Conditions on fields of those names, and on the time when a record was made.

    A day stands for its first moment in `date_from` and for its last in `date_to`.

    Raises:
        VrError: INVALID_INPUT for a malformed date, or dates in the wrong order.
    """
    filters = [Filter(name, "=", value) for name, value in values.items() if value is not None]
    first = read_moment("date_from", date_from) if date_from is not None else None
    last = read_moment("date_to", date_to, end_of_day=True) if date_to is not None else None
    if first and last and first > last:
        raise VrError(
            f"date_from {date_from} is later than date_to {date_to}.",
            Code.INVALID_INPUT,
            hint="Exchange them.",
        )
    if first:
        filters.append(Filter("created_at", ">=", first.isoformat()))
    if last:
        filters.append(Filter("created_at", "<=", last.isoformat()))
    return tuple(filters)


def tell_unfiltered(kinds: Sequence[RecordKind], filters: Sequence[Filter]) -> list[str]:
    """Notes on the kinds that lack a filtered field, and are searched without that condition."""
    notes = []
    for condition in filters:
        without = [kind.name for kind in kinds if not can_filter(kind, condition)]
        if without:
            listed = ", ".join(without[:LISTED])
            more = f" and {len(without) - LISTED} more" if len(without) > LISTED else ""
            notes.append(f"Not narrowed by {condition.field}, which they lack: {listed}{more}.")
    return notes


def read_moment(name: str, text: str, *, end_of_day: bool = False) -> datetime:
    """The moment that an ISO 8601 text names, in UTC; a day stands for its first moment.

    Args:
        name: of the argument, for the error.
        text: what a client wrote.
        end_of_day: let a day stand for its last moment.

    Raises:
        VrError: INVALID_INPUT for a malformed date.
    """
    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if end_of_day and _is_day(text):
            moment += timedelta(days=1, microseconds=-1)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise VrError(
            f"{name} is no date: {text[:40]!r}.",
            Code.INVALID_INPUT,
            hint="Dates are ISO 8601, for example 2026-01-31 or 2026-01-31T12:00:00Z.",
        ) from None


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
