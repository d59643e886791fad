"""Hooks: each one's effect, and a registration that is whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pluggy
import pytest
from plugin_zoo import OWN_TOOLS
from pydantic import BaseModel
from vr_kernel import (
    READ_ONLY,
    Call,
    Command,
    Config,
    Kernel,
    Provider,
    RecordField,
    RecordKind,
    Section,
    TextLine,
    TextRecognizer,
    VrError,
    hookimpl,
    load_config,
    tool,
)
from vr_kernel.documents import DOCUMENT_PASSAGES
from vr_kernel.loading.discovery import Candidate, PluginState, check
from vr_kernel.loading.hooks import HookError, Hooks

HOOKS = ["vr_settings", "vr_tools", "vr_record_kinds", "vr_providers", "vr_commands"]


class Done(BaseModel):
    """That it was done."""

    by: str = "one"


class Settings(Section):
    """Settings of one plugin."""

    size: int = 1


class Reader:
    """A text recognizer that reads what it was made for."""

    name = "reader"

    def __init__(self, plugin: str) -> None:
        self.plugin = plugin

    async def recognize(self, image: bytes) -> list[TextLine]:
        return [TextLine(self.plugin + image.decode(), (0, 0, 1, 1), 1.0)]


READER = Provider(TextRecognizer, "reader", lambda services: Reader(services.plugin))
NOTES = RecordKind("Notes", "Notes.", (RecordField("text", searchable=True),), rerank="text")


@tool(effects=READ_ONLY)
async def one_go(call: Call) -> Done:
    """Do it."""
    return Done()


OWN_KINDS = {DOCUMENT_PASSAGES.name: DOCUMENT_PASSAGES}


def plugin_of(**hooks: Callable[..., Any]) -> SimpleNamespace:
    """A plugin object with these hook implementations."""
    return SimpleNamespace(**{name: hookimpl(function) for name, function in hooks.items()})


def test_there_are_thirteen_hooks() -> None:
    events = {"vr_active", "vr_lifespan", "vr_call_finished", "vr_request_finished", "vr_health"}
    assert set(Hooks().names()) == {*HOOKS, *events, "vr_prompts", "vr_resources", "vr_views"}


async def test_settings_are_validated_and_handed_to_the_plugin(environ: dict[str, str]) -> None:
    config = load_config(environ={**environ, "VR_ONE__SIZE": "7"})
    async with Kernel.open(config, {"one": plugin_of(vr_settings=lambda: Settings)}) as kernel:
        assert kernel.settings == {"one": Settings(size=7)}


async def test_tools_are_served(config: Config) -> None:
    async with Kernel.open(config, {"one": plugin_of(vr_tools=lambda: [one_go])}) as kernel:
        assert kernel.tools["one_go"].plugin == "one"
        assert await kernel.call("one_go") == Done()


async def test_tools_may_come_from_a_generator(config: Config) -> None:
    async with Kernel.open(config, {"one": plugin_of(vr_tools=lambda: iter([one_go]))}) as kernel:
        assert "one_go" in kernel.tools


async def test_record_kinds_are_known_to_every_plugin(config: Config) -> None:
    plugins = {"one": plugin_of(vr_record_kinds=lambda: [NOTES]), "two": plugin_of()}
    async with Kernel.open(config, plugins) as kernel:
        assert [status.state for status in kernel.plugins()] == [PluginState.LOADED] * 3
        assert dict(kernel.services.store._kinds) == {"Notes": NOTES, **OWN_KINDS}


async def test_providers_are_made_with_the_services_of_their_plugin(config: Config) -> None:
    async with Kernel.open(config, {"one": plugin_of(vr_providers=lambda: [READER])}) as kernel:
        lines = await kernel.services.providers.get(TextRecognizer).recognize(b"!")
        assert lines[0].text == "one!"


async def test_of_two_equal_providers_the_second_is_refused(config: Config) -> None:
    plugins = {name: plugin_of(vr_providers=lambda: [READER]) for name in ("one", "two")}
    async with Kernel.open(config, plugins) as kernel:
        _, one, two = kernel.plugins()
        assert (one.state, two.state) == (PluginState.LOADED, PluginState.CONFLICT)
        assert "TextRecognizer 'reader'" in two.reason
        lines = await kernel.services.providers.get(TextRecognizer).recognize(b"")
        assert lines[0].text == "one"


async def test_commands_are_known_by_their_words(config: Config) -> None:
    command = Command(("one", "fetch-models"), "Fetch.", "nowhere:fetch")
    async with Kernel.open(config, {"one": plugin_of(vr_commands=lambda: [command])}) as kernel:
        assert kernel.commands == [command]


@pytest.mark.parametrize("hook", HOOKS)
async def test_a_hook_that_raises_takes_out_its_plugin_alone(hook: str, config: Config) -> None:
    def fail() -> Any:
        raise RuntimeError("no luck")

    plugins = {"bad": plugin_of(**{hook: fail}), "one": plugin_of(vr_tools=lambda: [one_go])}
    async with Kernel.open(config, plugins) as kernel:
        _, bad, one = kernel.plugins()
        assert (bad.state, bad.reason) == (PluginState.BROKEN, "RuntimeError: no luck")
        assert one.state is PluginState.LOADED
        assert await kernel.call("one_go") == Done()


@pytest.mark.parametrize("hook", HOOKS)
async def test_a_hook_may_return_nothing(hook: str, config: Config) -> None:
    async with Kernel.open(config, {"one": plugin_of(**{hook: lambda: None})}) as kernel:
        assert kernel.plugins()[1].state is PluginState.LOADED


@pytest.mark.parametrize("hook", [name for name in HOOKS if name != "vr_settings"])
async def test_a_plugin_that_fails_late_leaves_nothing_behind(hook: str, config: Config) -> None:
    def half() -> Any:
        yield from {"vr_tools": [one_go], "vr_record_kinds": [NOTES]}.get(hook, [])
        raise RuntimeError("half way")

    async with Kernel.open(config, {"one": plugin_of(**{hook: half})}) as kernel:
        assert set(kernel.tools) == set(OWN_TOOLS)
        assert dict(kernel.services.store._kinds) == OWN_KINDS
        assert kernel.commands == []
        assert kernel.services.providers.names(TextRecognizer) == []


async def test_strict_raises_with_the_cause(environ: dict[str, str]) -> None:
    config = load_config(environ={**environ, "VR_STRICT": "1"})
    with pytest.raises(VrError, match="one is broken: TypeError: vr_tools returned int") as caught:
        Kernel(config, {"one": plugin_of(vr_tools=lambda: 3)})
    assert isinstance(caught.value.__cause__, TypeError)


def test_arguments_are_passed_by_name_and_only_those_that_are_taken() -> None:
    def takes_nothing() -> list[Any]:
        return []

    hooks = Hooks()
    hooks.register(plugin_of(vr_health=takes_nothing), "one")
    assert hooks.of("one").health(None) == []


def test_a_call_reaches_one_plugin() -> None:
    hooks = Hooks()
    hooks.register(plugin_of(vr_tools=lambda: ["one"]), "one")
    hooks.register(plugin_of(vr_tools=lambda: ["two"]), "two")
    hooks.register(plugin_of(), "three")
    assert hooks.of("two").tools() == ["two"]
    assert hooks.of("three").tools() == []
    assert hooks.of("nobody").tools() == []


def test_a_hook_may_be_implemented_under_another_name() -> None:
    def offer() -> list[str]:
        return ["mine"]

    hooks = Hooks()
    hooks.register(SimpleNamespace(offer=hookimpl(specname="vr_tools")(offer)), "one")
    assert hooks.of("one").tools() == ["mine"]


def test_a_module_is_a_plugin() -> None:
    module = ModuleType("one")
    vars(module)["vr_tools"] = hookimpl(lambda: ["mine"])
    hooks = Hooks()
    hooks.register(module, "one")
    assert hooks.of("one").tools() == ["mine"]


def unmarked() -> list[Any]:
    """A hook implementation whose mark was forgotten."""
    return []


async def asynchronous() -> list[Any]:
    """A hook implementation that nobody would await."""
    return []


@pytest.mark.parametrize(
    ("plugin", "error", "says"),
    [
        (
            plugin_of(vr_tool=lambda: None),
            HookError,
            "no such hook: vr_tool. Did you mean 'vr_tools'",
        ),
        (plugin_of(vr_zzzz=lambda: None), HookError, "no such hook: vr_zzzz"),
        (plugin_of(vr_tools=asynchronous), HookError, "vr_tools is async"),
        (SimpleNamespace(vr_tools=unmarked), HookError, "vr_tools is not marked"),
        (plugin_of(vr_tools=lambda servces: []), pluggy.PluginValidationError, "servces"),
    ],
)
def test_an_unsound_plugin_is_not_registered(plugin: object, error: type, says: str) -> None:
    hooks = Hooks()
    with pytest.raises(error, match=says):
        hooks.register(plugin, "one")
    assert hooks.of("one").tools() == []
    hooks.register(plugin_of(vr_tools=lambda: ["again"]), "one")
    assert hooks.of("one").tools() == ["again"]


def test_a_second_plugin_of_a_name_does_not_push_out_the_first() -> None:
    hooks = Hooks()
    hooks.register(plugin_of(vr_tools=lambda: ["first"]), "one")
    with pytest.raises(HookError, match="one"):
        hooks.register(plugin_of(vr_tools=lambda: ["second"]), "one")
    assert hooks.of("one").tools() == ["first"]


def test_unregistering_forgets_and_is_harmless_twice() -> None:
    hooks = Hooks()
    hooks.register(plugin_of(vr_tools=lambda: ["mine"]), "one")
    hooks.unregister("one")
    hooks.unregister("one")
    assert hooks.of("one").tools() == []


def candidate(name: str, distribution: str, *requires: str) -> Candidate:
    """A plugin known by its metadata."""
    return Candidate(name, distribution, "1.0", requires, dict)


@pytest.mark.parametrize(
    ("requirement", "state"),
    [
        ("vr-kernel>=0.1,<0.2", PluginState.LOADED),
        ("VR_Kernel ~= 0.1.0", PluginState.LOADED),
        ("vr.kernel", PluginState.LOADED),
        ("vr-kernel<0.1", PluginState.INCOMPATIBLE),
        ("vr-kernel==0.2.*; python_version >= '3'", PluginState.INCOMPATIBLE),
        ("vr-kernel>=9; python_version < '3'", PluginState.LOADED),
        ("vr-kernel>=9; extra == 'future'", PluginState.LOADED),
        ("vr-kernel>=0.2.dev1", PluginState.INCOMPATIBLE),
        ("other>=9", PluginState.LOADED),
        (")(", PluginState.LOADED),
    ],
)
def test_the_kernel_that_a_plugin_needs(requirement: str, state: PluginState) -> None:
    one = candidate("one", "vr-plugin-one", requirement)
    ((_, status),) = check([one], wanted=["*"], disabled=[], kernel_version="0.1.3")
    assert status.state is state
    assert ("this is 0.1.3" in status.reason) == (state is PluginState.INCOMPATIBLE)


@pytest.mark.parametrize("rightful", ["vr-plugin-one", "VR_Plugin.One", "vr-one"])
def test_a_name_belongs_to_the_distribution_that_bears_it(rightful: str) -> None:
    candidates = [candidate("one", "aaa-one"), candidate("one", rightful)]
    for order in (candidates, candidates[::-1]):
        checked = check(order, wanted=["*"], disabled=[], kernel_version="0.1.0")
        states = {found.distribution: status.state for found, status in checked}
        assert states == {rightful: PluginState.LOADED, "aaa-one": PluginState.CONFLICT}


def test_a_blocked_owner_keeps_its_name() -> None:
    candidates = [candidate("one", "vr-plugin-one"), candidate("one", "other")]
    checked = check(candidates, wanted=["*"], disabled=["one"], kernel_version="0.1.0")
    assert [status.state for _, status in checked] == [PluginState.BLOCKED, PluginState.CONFLICT]


@pytest.mark.parametrize(
    "kind",
    [
        RecordKind(["x"], "Named by a list.", (RecordField("a"),), rerank="a"),  # type: ignore[arg-type]
        RecordKind("Clouds", "Fields of text.", ("a",), rerank="a"),  # type: ignore[arg-type]
        RecordKind("Clouds", "No such field.", (RecordField("a"),), rerank="b"),
        RecordKind("Clouds", "No such field.", (RecordField("a"),), rerank="a", locator=("c",)),
    ],
    ids=["name", "field", "rerank", "locator"],
)
async def test_a_kind_that_no_store_can_keep_breaks_its_plugin_alone(
    kind: RecordKind, config: Config
) -> None:
    plugins = {"one": plugin_of(vr_record_kinds=lambda: [kind]), "two": plugin_of()}
    async with Kernel.open(config, plugins) as kernel:
        states = {status.name: status.state for status in kernel.plugins()}
    assert states["one"] is PluginState.BROKEN
    assert states["two"] is PluginState.LOADED
