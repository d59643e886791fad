"""The hooks of one plugin, typed: each returns what its specification says, or raises an error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from vr_kernel.commands import Command
from vr_kernel.health import Check
from vr_kernel.providers import Provider
from vr_kernel.records import RecordKind

if TYPE_CHECKING:
    from pluggy import HookImpl
    from pydantic import BaseModel

    from vr_kernel.services import Services

T = TypeVar("T")


class PluginHooks:
    """The implementations of one plugin. Exceptions of its code are passed on.

    Args:
        implementations: by the names of their hooks.

    Raises:
        TypeError: from each method, when the plugin returns something else than it should.
    """

    def __init__(self, implementations: Mapping[str, HookImpl]) -> None:
        self._implementations = implementations

    def settings(self) -> type[BaseModel] | None:
        """Return the model of the plugin's section."""
        model: Any = self.answer("vr_settings")
        return model  # type: ignore[no-any-return]  # the section is validated by it, or fails

    def active(self, settings: BaseModel | None) -> bool:
        """Say whether its lifespan and its event hooks are used; without such a hook they are."""
        answer = self._call("vr_active", settings=settings)
        if answer is not None and not isinstance(answer, bool):
            raise TypeError(f"vr_active returned {type(answer).__name__}, not a bool")
        return answer is not False

    def tools(self) -> list[Callable[..., Any]]:
        """List the functions that are tools."""
        return self._list("vr_tools")

    def prompts(self) -> list[Callable[..., Any]]:
        """List the functions that are prompts."""
        return self._list("vr_prompts")

    def resources(self) -> list[Callable[..., Any]]:
        """List the functions that are resources."""
        return self._list("vr_resources")

    def record_kinds(self) -> list[RecordKind]:
        """List the kinds of records that the plugin stores."""
        return self._typed(RecordKind, "vr_record_kinds")

    def providers(self) -> list[Provider[Any]]:
        """List what the plugin provides to others."""
        return self._typed(Provider, "vr_providers")

    def commands(self) -> list[Command]:
        """List the commands that are no tools."""
        return self._typed(Command, "vr_commands")

    def views(self) -> list[Callable[..., Any]]:
        """List the functions that are views."""
        return self._list("vr_views")

    def health(self, services: Services) -> list[Check]:
        """List the checks for `vr doctor`."""
        return self._typed(Check, "vr_health", services=services)

    def function(self, hook: str) -> Callable[..., Any] | None:
        """Return the implementation of a hook that gets arguments; None when there is none."""
        return partial(self._call, hook) if hook in self._implementations else None

    def answer(self, hook: str) -> object:
        """Return the result of a registration hook, unchecked; None when there is no such hook."""
        return self._call(hook)

    def _call(self, hook: str, **arguments: Any) -> Any:
        implementation = self._implementations.get(hook)
        if implementation is None:
            return None
        taken = {name: arguments[name] for name in implementation.argnames}
        return implementation.function(**taken)

    def _list(self, hook: str, **arguments: Any) -> list[Any]:
        offered = self._call(hook, **arguments)
        if offered is not None and not isinstance(offered, Iterable):
            raise TypeError(f"{hook} returned {type(offered).__name__}, not a list")
        return list(offered or ())

    def _typed(self, wanted: type[T], hook: str, **arguments: Any) -> list[T]:
        items = self._list(hook, **arguments)
        for item in items:
            if not isinstance(item, wanted):
                raise TypeError(f"expected {wanted.__name__}, got {type(item).__name__}")
        return items
