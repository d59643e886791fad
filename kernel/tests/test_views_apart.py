"""Views of several plugins and principals: each is kept from the others' mistakes and data."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel
from vr_kernel import (
    READ_ONLY,
    Call,
    Code,
    Config,
    Kernel,
    Record,
    RecordField,
    RecordKind,
    Services,
    StoredRecord,
    View,
    VrError,
    hookimpl,
    tool,
    view,
)
from vr_kernel.views import as_text
from vr_testing import open_kernel

TEAS = RecordKind(
    "Teas",
    "Teas that were drunk.",
    fields=(RecordField("name", searchable=True), RecordField("shop")),
    rerank="name",
    source="shop",
)


class Told(BaseModel):
    """Texts."""

    texts: list[str]


@tool(effects=READ_ONLY)
async def tea_drink(call: Call, name: str) -> Told:
    """Drink a tea."""
    call.record(Record("Teas", {"name": name, "shop": "https://tea.example"}, key="tea"))
    return Told(texts=[name])


@tool(effects=READ_ONLY)
async def tea_look(call: Call) -> Told:
    """Show all that was drunk."""
    services = call.services
    sources = await services.journal.sources(services.workspace)
    shown = [await services.views.of_source(each.id) for each in sources]
    return Told(texts=[as_text(each) for each in (*shown, await services.views.page("who", {}))])


@view(page="who")
async def show_who(services: Services, arguments: object) -> View:
    """Name the principal."""
    return View(f"I am {services.identity.principal}")


def titled(title: str, **of: str) -> Any:
    """A view that shows a title alone."""

    async def show(services: Services, subject: object) -> View:
        return View(title)

    return view(**of)(show)


def tea(*views: Any) -> SimpleNamespace:
    """The plugin that owns the tools and the kind."""
    return SimpleNamespace(
        vr_tools=hookimpl(lambda: [tea_drink, tea_look]),
        vr_record_kinds=hookimpl(lambda: [TEAS]),
        vr_views=hookimpl(lambda: list(views)),
    )


def guest(views: Any) -> SimpleNamespace:
    """A plugin that has views alone."""
    return SimpleNamespace(vr_views=hookimpl(views))


async def titles(kernel: Kernel) -> list[str]:
    """Titles of a result and of a record."""
    views = kernel.services.views
    result = await views.of_result(kernel.tools["tea_drink"], Told(texts=["oolong"]))
    record = await views.of_records([StoredRecord("Teas", "1", {"name": "oolong"})])
    return [result.title, record.title]


async def test_a_guest_shows_what_its_owner_does_not_and_nothing_else(config: Config) -> None:
    def views() -> list[Any]:
        return [titled("Guest's result", tool="tea_drink"), titled("Guest's tea", kind="Teas")]

    own = titled("Own tea", kind="Teas")
    for plugins in ({"a": guest(views), "tea": tea(own)}, {"tea": tea(own), "z": guest(views)}):
        async with Kernel.open(config, plugins) as kernel:
            assert await titles(kernel) == ["Guest's result", "Own tea"]


async def test_a_plugin_that_fills_a_kind_of_the_kernel_shows_it(config: Config) -> None:
    """The kernel's own view of it is for where no plugin has one; its tools stay its own."""
    passage = StoredRecord("DocumentPassages", "1", {"text": "green tea", "title": "On tea"})
    shown = []
    views = [titled("Guest's", kind="DocumentPassages"), titled("Guest's", tool="infra_plugins")]
    for plugins in ({"tea": tea()}, {"a": guest(lambda: views), "tea": tea()}):
        async with Kernel.open(config, plugins) as kernel:
            plugged = await kernel.call("infra_plugins")
            result = await kernel.services.views.of_result(kernel.tools["infra_plugins"], plugged)
            assert result.title != "Guest's"
            shown.append((await kernel.services.views.of_records([passage])).title)
    assert shown == ["On tea", "Guest's"]


def raises() -> list[Any]:
    """Fail."""
    raise ValueError("secret-4711")


def without_mark() -> list[Any]:
    """Name a function that is no view."""
    return [raises]


async def one_parameter(services: Services) -> View:
    """Take no subject."""
    return View("")


@pytest.mark.parametrize(
    "hook",
    [raises, without_mark, lambda: [7], lambda: [view(tool="x")(one_parameter)]],
)
async def test_a_hook_that_fails_costs_its_own_views(config: Config, hook: Any) -> None:
    plugins = {"a": guest(hook), "tea": tea(titled("Own tea", kind="Teas"))}
    async with Kernel.open(config, plugins) as kernel:
        assert await titles(kernel) == ["Tea drink", "Own tea"]
    with pytest.raises((ValueError, TypeError)):
        async with open_kernel(plugins) as kernel:  # a strict one
            await titles(kernel)


async def test_each_principal_is_shown_its_own(config: Config) -> None:
    async with Kernel.open(config, {"tea": tea(show_who)}) as kernel:
        for name, drunk in (("ann", "heliotrope"), ("ben", "tourmaline")):
            await kernel.run("tea_drink", {"name": drunk}, principal=name)
        told = {}
        for name in ("ann", "ben", "eve"):
            outcome = await kernel.run("tea_look", {}, principal=name)
            told[name] = str(outcome.result)
    seen = {name: "heliotrope" in it or "tourmaline" in it for name, it in told.items()}
    assert seen == {"ann": True, "ben": True, "eve": False}
    assert "tourmaline" not in told["ann"]
    assert "heliotrope" not in told["ben"]
    assert all(f"I am {name}" in text for name, text in told.items())


async def test_a_view_that_is_made_while_the_kernel_closes_ends(config: Config) -> None:
    begun = asyncio.Event()

    async def waits(services: Services, subject: object) -> View:
        begun.set()
        await asyncio.Event().wait()
        return View("never")

    hanging = view(page="hanging")(waits)
    async with Kernel.open(config, {"tea": tea(hanging)}) as kernel:
        making = asyncio.create_task(kernel.services.views.page("hanging", {}))
        await begun.wait()
    with pytest.raises(VrError) as caught:
        await making
    assert caught.value.code in (Code.INTERNAL, Code.CONFLICT)


async def test_what_an_error_of_a_page_held_is_told_to_nobody(config: Config) -> None:
    async def fails(services: Services, subject: object) -> View:
        raise ValueError("secret-4711")

    async with Kernel.open(config, {"tea": tea(view(page="bad")(fails))}) as kernel:
        with pytest.raises(VrError) as caught:
            await kernel.services.views.page("bad", {})
    assert "secret-4711" not in f"{caught.value.message} {caught.value.hint}"
    assert caught.value.category == "VIEW_FAILED"
