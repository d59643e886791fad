"""The protocols by which one plugin serves another, and the choice among providers of one kind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from vr_kernel.errors import Code, VrError, did_you_mean
from vr_kernel.generation import Purpose
from vr_kernel.isolation.plugin_code import PluginCode, contained

if TYPE_CHECKING:
    from vr_kernel.items.pictures import Picture
    from vr_kernel.log import Log

T = TypeVar("T")
OFFERS = "vr.providers"
"""Entry point group: kinds of providers, each with the distribution (and extras) that has one."""
OWN = "own"
"""Name of what `Provider.own` provides; its kind is the place of the class."""
Bind = Callable[[Any], "Owner"]


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text found in a picture; the box is left, top, width, height in pixels."""

    text: str
    box: tuple[float, float, float, float]
    confidence: float


class TextRecognizer(Protocol):
    """Reads the text in a picture."""

    name: str

    async def recognize(self, image: bytes) -> list[TextLine]:
        """Lines of an encoded picture (PNG or JPEG), from top to bottom."""


class Embedder(Protocol):
    """Turns items into vectors of one space; `id` names model and version.

    One that asks `services.models` may have `of_call(models) -> Embedder`: itself, with the models
    of a call, which then pays.

    It may have `batch`, the most items that it embeds in one request of a service: it is handed no
    more at once, and what one request gave is kept when the next one fails.
    """

    id: str
    dimension: int
    accepts: frozenset[str]
    """Items that it takes: `text`, `image`. Without this it takes texts, and is handed no others
    by the kernel."""

    async def embed(self, items: Sequence[str | Picture], purpose: Purpose) -> list[list[float]]:
        """One unit-length vector per item, in order."""


class Reranker(Protocol):
    """Judges how well items answer a question; ask it through `vr_kernel.rerank`.

    It may have `accepts`, as an `Embedder` has; without this it takes texts. The question is
    words: a picture is a question for an embedder.
    """

    name: str

    async def rerank(self, query: str, items: Sequence[str | Picture], /) -> list[float]:
        """One score per item, in order, higher is better; scores are comparable within one call."""


@dataclass(frozen=True, slots=True)
class Provider(Generic[T]):
    """A named implementation of a protocol. `factory` runs at first use, once per kernel.

    Kinds are the protocols: Store, Embedder, Reranker, TextRecognizer, DocumentLoader,
    ModelProvider, SearchProvider. A plugin may also provide a class of its own, see `own`: it then
    gets one instance per kernel, instead of a global. An instance with a coroutine method `aclose`
    is closed with the kernel.

    When the configuration names none, the provider with the highest `preference` comes first, and
    equals are sorted by name. The kernel's own Gemini has 100.

    A provider that uses models, the cache or files sets `of_call`: it is then made again for each
    call, with the services of the caller, so that it spends, keeps and reads on their behalf. Such
    an instance is not closed.

    `keys` names the settings of the plugin's section that hold its keys. A provider of models whose
    keys come from the environment alone is asked only when the user agreed to it.
    """

    kind: type[T] | str
    name: str
    factory: Callable[[Any], T]
    preference: int = 0
    of_call: bool = False
    keys: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a kind or name that could not be chosen.

        Raises:
            TypeError: when the kind is no class and no name, or the name no text.
        """
        if not isinstance(self.kind, type | str) or not isinstance(self.name, str):
            raise TypeError("a Provider has a class for its kind, and a text for its name")

    @classmethod
    def own(cls, target: str) -> Provider[Any]:
        """A class of the plugin's own, `package.module:Class`, which is imported at first use.

        It is made with the plugin's `Services`, and found by the class: `providers.get(Class)`. The
        module is the one that defines the class, so that another plugin's of that name is another.
        """
        module, _, name = target.partition(":")

        def make(services: Any) -> Any:
            return getattr(import_module(module), name)(services)

        return Provider(target, OWN, make)

    @property
    def kind_name(self) -> str:
        """The name of the protocol or class; the place of a class of the plugin's own."""
        return self.kind if isinstance(self.kind, str) else self.kind.__name__


class Owner(Protocol):
    """A plugin that provides something, for a principal or for a call."""

    @property
    def plugin(self) -> str:
        """Its name."""

    @property
    def log(self) -> Log:
        """Its log."""

    @property
    def services(self) -> Any:
        """The services that its providers are made with."""


class ProviderRegistry:
    """The providers of all loaded plugins; instances are made at first use."""

    def __init__(self, choice: Callable[[str], str]) -> None:
        """`choice` names the provider that configuration chose for a kind; empty for none."""
        self._choice = choice
        self._entries: dict[tuple[str, str], tuple[Provider[Any], Owner]] = {}
        self._instances: dict[tuple[str, str], Any] = {}
        self.bind: Bind | None = None

    def of_call(self, bind: Bind) -> ProviderRegistry:
        """The same providers, for a call; `bind` returns owners for that call."""
        bound = copy(self)
        bound.bind = bind
        return bound

    def add(self, provider: Provider[Any], owner: Owner) -> None:
        """Register one plugin's provider.

        Raises:
            VrError: CONFLICT when the name is taken for that kind.
        """
        slot = (provider.kind_name, provider.name)
        if slot in self._entries:
            raise VrError(f"{slot[0]} {slot[1]!r} is provided twice.", Code.CONFLICT)
        self._entries[slot] = (provider, owner)

    def remove(self, plugin: str) -> None:
        """Forget the providers of a plugin; instances that were made are closed with the kernel."""
        for slot in [slot for slot, (_, owner) in self._entries.items() if owner.plugin == plugin]:
            del self._entries[slot]

    def names(self, kind: type[T]) -> list[str]:
        """Names of the providers of that kind, the preferred first, equals by name."""
        kinds = (kind.__name__, _place_of(kind))
        there = [given for given, _ in self._entries.values() if given.kind_name in kinds]
        return [given.name for given in sorted(there, key=lambda it: (-it.preference, it.name))]

    def get(self, kind: type[T], name: str | None = None) -> T:
        """The provider that is asked for, or configured, or preferred, or first by name.

        Raises:
            VrError: UNAVAILABLE when there is none, or none of that name.
        """
        slot = self._slot(kind, name)
        provider, owner = self._entries[slot]
        if provider.of_call and self.bind is not None:
            owner = self.bind(owner)
            with self.contained(kind, slot[1]):
                return cast("T", provider.factory(owner.services))
        if slot not in self._instances:
            with self.contained(kind, slot[1]):
                self._instances[slot] = provider.factory(owner.services)
        return cast("T", self._instances[slot])

    def contained(self, kind: type[Any], name: str | None = None) -> AbstractContextManager[None]:
        """Turn what a provider raises inside a block into a failure of its plugin.

        Raises:
            VrError: what it raised; INTERNAL, with its name, when it failed in another way.
        """
        slot = self._slot(kind, name)
        owner = self._entries[slot][1]
        what = " ".join(slot) if slot[1] != OWN else kind.__name__
        return contained(what, owner.plugin, owner.log)

    def keys_of(self, kind: type[T], name: str) -> tuple[str, ...]:
        """The settings that hold the keys of a provider; see `Provider`.

        Raises:
            KeyError: when there is no such provider.
        """
        return self._entries[(kind.__name__, name)][0].keys

    def owner_of(self, kind: type[T], name: str) -> Owner:
        """Return the plugin that provides it.

        Raises:
            KeyError: when there is no such provider.
        """
        return self._entries[(kind.__name__, name)][1]

    async def aclose(self) -> None:
        """Close every instance that was made."""
        made = list(self._instances.values())
        self._instances.clear()
        await asyncio.gather(*map(close, made), return_exceptions=True)

    def _slot(self, kind: type[Any], name: str | None) -> tuple[str, str]:
        """The slot of the provider that is asked for, or configured, or comes first."""
        own = (_place_of(kind), OWN)
        if own in self._entries and name in (None, OWN):
            return own
        chosen = name or self._choice(kind.__name__) or next(iter(self.names(kind)), None)
        slot = (kind.__name__, chosen or "")
        if slot not in self._entries:
            raise self._missing(kind, chosen)
        return slot

    def _missing(self, kind: type[T], name: str | None) -> VrError:
        names = self.names(kind)
        label = f"{kind.__name__} {name!r}" if name else kind.__name__
        if names:
            hint = f"{did_you_mean(name or '', names)}Installed: {', '.join(names)}."
        else:
            hint = _installation(kind.__name__)
        return VrError(f"No {label} is installed.", Code.UNAVAILABLE, hint=hint)


def _place_of(kind: type[Any]) -> str:
    """The module and name of a class, as `Provider.own` takes them."""
    return f"{kind.__module__}:{kind.__qualname__}"


async def close(instance: Any) -> None:
    """Close a provider's instance, if it has `aclose`."""
    with PluginCode():
        if aclose := getattr(instance, "aclose", None):
            await aclose()


@cache
def _installation(kind: str) -> str:
    """The command that installs a provider of a kind, as an installed distribution offers it."""
    from importlib.metadata import entry_points  # seldom needed

    for offer in entry_points(group=OFFERS, name=kind):
        name = offer.module.replace("_", "-")
        wanted = f'"{name}[{",".join(offer.extras)}]"' if offer.extras else name
        return f"Install one: pip install {wanted}"
    return "Install a plugin that provides one."
