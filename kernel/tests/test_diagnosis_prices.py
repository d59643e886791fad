"""The check of the age of price lists, which `vr doctor` shows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from vr_kernel import Diagnosis, Kernel, ModelProvider, Provider, load_config
from vr_kernel.diagnosis import kernel_checks

OURS = "vr-kernel"


async def lists_at(environ: dict[str, str], plugin: Any, days: int) -> tuple[Diagnosis, str]:
    """The finding so many days after the day of the kernel's own list, and that day."""
    config = load_config(environ=environ)
    async with Kernel.open(config, {"scribe": plugin}) as kernel:
        day = kernel.services.models.roles.provider("gemini").prices_of
        now = (datetime.fromisoformat(day).replace(tzinfo=UTC) + timedelta(days)).timestamp()
        folder = kernel.config.paths.state
        checks = kernel_checks(environ, folder, config, kernel, clock=lambda: now)
        (check,) = [check for topic, check in checks if (topic, check.name) == ("models", "prices")]
        found = check.examine()
    assert isinstance(found, Diagnosis)
    return found, day


def listed(*days: str) -> list[Provider[Any]]:
    """Providers of models whose price lists are of these days."""
    return [
        Provider(ModelProvider, f"p{n}", lambda _services, day=day: SimpleNamespace(prices_of=day))
        for n, day in enumerate(days)
    ]


@pytest.mark.parametrize(("days", "level"), [(-2, "ok"), (0, "ok"), (90, "ok"), (91, "warning")])
async def test_a_list_older_than_ninety_days_is_to_be_upgraded(
    environ: dict[str, str], make_plugin: Any, days: int, level: str
) -> None:
    found, day = await lists_at(environ, make_plugin(), days)
    assert found.level == level
    assert f"{OURS} of {day} ({max(0, days)} days old)" in found.what
    assert (f"pip install -U {OURS};" in found.fix) is (level == "warning")


async def test_of_several_lists_the_old_ones_are_named(
    environ: dict[str, str], make_plugin: Any
) -> None:
    """By what has to be upgraded; lists without a date do not count, nor do broken providers."""

    def broken(_services: object) -> Any:
        raise RuntimeError("no")

    others = [
        *listed("2026-01-02", "2026-01-01", "spring", ""),
        Provider(ModelProvider, "b", broken),
    ]
    found, day = await lists_at(environ, make_plugin(providers=others), 0)
    assert found.level == "warning"
    assert "scribe of 2026-01-01 (" in found.what
    assert day not in found.what
    assert "pip install -U scribe;" in found.fix
