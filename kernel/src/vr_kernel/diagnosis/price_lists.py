"""The check of the price lists of models, which come with releases and grow old."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime

from vr_kernel.errors import VrError
from vr_kernel.health import Diagnosis
from vr_kernel.models.roles import Roles

MOST_DAYS = 90
"""Age up to which a list is taken for right."""


def recent_prices(
    roles: Roles, distributions: Mapping[str, str], clock: Callable[[], float]
) -> Diagnosis:
    """Check that the price lists of the installed providers are not old.

    Args:
        roles: knows the providers.
        distributions: that of each plugin.
        clock: seconds since the epoch.
    """
    made = _lists(roles, distributions)
    if not made:
        return Diagnosis.ok("No provider has a price list.")
    today = datetime.fromtimestamp(clock(), UTC).date()
    ages = {name: max(0, (today - day).days) for name, day in made.items()}
    old = sorted(name for name, age in ages.items() if age > MOST_DAYS)
    told = [f"{name} of {made[name]} ({_days(ages[name])} old)" for name in old or sorted(made)]
    what = f"Price lists of models: {', '.join(told)}."
    if not old:
        return Diagnosis.ok(what)
    return Diagnosis.warning(
        f"{what} Costs may be wrong.",
        f"Upgrade: pip install -U {' '.join(old)}; or set prices of your own in [models.prices].",
    )


def _lists(roles: Roles, distributions: Mapping[str, str]) -> dict[str, date]:
    """The day of the oldest list of each distribution."""
    found: dict[str, date] = {}
    for provider in roles.providers:
        with suppress(VrError, ValueError):  # one that fails has none, nor one without a date
            with roles.contained(provider):
                said = str(getattr(roles.provider(provider), "prices_of", ""))
            plugin = roles.plugin_of(provider)
            name, day = distributions.get(plugin) or plugin, date.fromisoformat(said)
            found[name] = min(day, found.get(name, day))
    return found


def _days(count: int) -> str:
    return "1 day" if count == 1 else f"{count} days"
