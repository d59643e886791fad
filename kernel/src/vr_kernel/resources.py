"""`@resource` marks a function that reads something by its address; `Resource` serves it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel

from vr_kernel.content import Content
from vr_kernel.files.artifacts import Artifact
from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.services import Services
from vr_kernel.signatures.arguments import arguments_model, validate

Reading = str | bytes | BaseModel | Artifact | Content
F = TypeVar("F", bound=Callable[..., Awaitable[Reading]])
MARK = "__vr_resource__"
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s{}]*(\{[a-z][a-z0-9_]*\*?\}[^\s{}]*)*")
_PARAMETER = re.compile(r"\{(\w+)\*?\}")
_FOREIGN = ("file:", "http:", "https:", "data:")
"""Schemes that clients open themselves."""


@dataclass(frozen=True, slots=True)
class Address:
    """The facts that `@resource` states of a function."""

    uri: str
    mime: str


def resource(uri: str, *, mime: str = "") -> Callable[[F], F]:
    """Mark an async function as a resource: something a client reads by its address.

    Its first parameter is the plugin's `Services`; the others, annotated, are in braces in the
    address. It returns text, bytes, a model (read as JSON), a `Content` or an `Artifact`.

    Args:
        uri: the address, such as `vr://notes/{name}`; `{path*}` takes slashes too.
        mime: the media type; by default JSON for a returned model, else plain text.
    """

    def mark(function: F) -> F:
        setattr(function, MARK, Address(uri, mime))
        return function

    return mark


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource, or a family of them, as a server offers it."""

    name: str
    plugin: str
    description: str
    uri: str
    mime: str
    function: Callable[..., Awaitable[Reading]]
    arguments: type[BaseModel]

    async def read(self, services: Services, given: Mapping[str, Any]) -> Reading:
        """Read the content at the address with these parts.

        Raises:
            VrError: INVALID_INPUT for parts that do not fit, and what the function raises.
        """
        arguments = validate(self.name, self.arguments, given)
        found = await PluginCode.apart(self.function, services, **arguments)
        if not isinstance(found, Reading):
            raise TypeError(f"resource {self.name} gave {type(found).__name__}")
        return found


def build_resource(function: Callable[..., Any], plugin: str) -> Resource:
    """Make a resource of a marked function.

    Raises:
        TypeError: when the function is no resource, its address is none, or their parameters
            differ.
    """
    declared: Address | None = getattr(function, MARK, None)
    name = getattr(function, "__name__", repr(function))
    if declared is None or not inspect.iscoroutinefunction(function):
        raise TypeError(f"{name} is not an async function with @resource")
    if not _ADDRESS.fullmatch(declared.uri) or declared.uri.startswith(_FOREIGN):
        raise TypeError(f"resource {name} has {declared.uri!r}, which is no address of ours")
    parameters = list(inspect.signature(function).parameters.values())[1:]
    if sorted(p.name for p in parameters) != sorted(_PARAMETER.findall(declared.uri)):
        raise TypeError(f"resource {name}: its parameters and those of {declared.uri} differ")
    hints = get_type_hints(function, include_extras=True)
    return Resource(
        name=name,
        plugin=plugin,
        description=inspect.cleandoc(function.__doc__ or "").partition("\n\n")[0],
        uri=declared.uri,
        mime=declared.mime or _mime(hints.get("return")),
        function=function,
        arguments=arguments_model(f"resource {name}", parameters, hints),
    )


def _mime(returned: object) -> str:
    if not isinstance(returned, type):
        return "text/plain"
    if issubclass(returned, BaseModel):
        return "application/json"
    return "application/octet-stream" if issubclass(returned, bytes | Artifact) else "text/plain"
