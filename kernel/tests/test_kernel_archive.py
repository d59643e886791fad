"""Records of facts replace each other, with a call and without one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel
from vr_kernel import (
    READ_ONLY,
    Call,
    Config,
    Kernel,
    Record,
    RecordField,
    RecordKind,
    Services,
    VrError,
    entity_key,
    hookimpl,
    tool,
)

CITIES = RecordKind(
    "Cities",
    "What is known of cities.",
    (RecordField("city"), RecordField("weather", searchable=True)),
    rerank="weather",
    identity=lambda fields: entity_key("Cities", fields["city"].casefold()),
)
ULM = entity_key("Cities", "ulm")


class Done(BaseModel):
    """That it was done."""


@tool(effects=READ_ONLY)
async def cities_tell(call: Call, city: str | None = None, weather: str = "") -> Done:
    """Record the weather of a city."""
    call.record(Record("Cities", {"city": city, "weather": weather}))
    return Done()


def plugins_of(heard: list[Services]) -> dict[str, object]:
    """A plugin with a kind of facts; it keeps the services it is handed."""

    @hookimpl
    def vr_call_finished(services: Services) -> None:
        heard.append(services)

    offered = SimpleNamespace(
        vr_tools=hookimpl(lambda: [cities_tell]),
        vr_record_kinds=hookimpl(lambda: [CITIES]),
        vr_call_finished=vr_call_finished,
    )
    return {"cities": offered}


async def facts(kernel: Kernel) -> dict[str, Any]:
    """Key and weather of all that is recorded."""
    return {c.key: (c.fields or {}).get("weather") async for c in kernel.services.archive.records()}


async def test_what_is_learned_later_replaces_what_was_known(config: Config) -> None:
    async with Kernel.open(config, plugins_of([])) as kernel:
        await kernel.call("cities_tell", city="Ulm", weather="rain")
        await kernel.call("cities_tell", city="ULM", weather="sun")
        assert await facts(kernel) == {ULM: "sun"}
        await kernel.call("cities_tell", weather="fog")
        assert len(await facts(kernel)) == 2, "of no city: an event"


async def test_a_plugin_records_and_forgets_without_a_call(config: Config) -> None:
    heard: list[Services] = []
    async with Kernel.open(config, plugins_of(heard)) as kernel:
        await kernel.call("cities_tell", city="Ulm", weather="rain")
        archive = heard[0].archive
        more = [Record("Cities", {"city": name, "weather": "sun"}) for name in ("Ulm", "Bonn")]
        await archive.add(more, origin="almanac")
        assert len(await facts(kernel)) == 2
        await archive.forget([("Cities", ULM)], origin="almanac")
        assert list(await facts(kernel)) == [entity_key("Cities", "bonn")]
        (*_, last) = await kernel.services.journal.changes(0, 10)
        assert (last.key, last.fields, last.provenance) == (ULM, None, {"tool": "almanac"})
        with pytest.raises(VrError):
            await archive.add([Record("Cities", {"weather": "fog"})], origin="almanac")
