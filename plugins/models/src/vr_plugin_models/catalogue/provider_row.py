"""A row of the table of providers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Family = Literal["openai", "azure", "anthropic", "ollama"]
SchemaWay = Literal["native", "json", "words"]


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """A provider.

    Args:
        name: in configuration and in the names of models.
        title: as people call it.
        address: base URL; empty when the user names it.
        family: the protocol that it speaks.
        model: the model for most work; empty when the user names it.
        fallback: asked when that one does not answer.
        small: for small work and the parts of large questions.
        vision: looks at pictures, where `model` does not.
        embedding: turns texts into vectors.
        before: another address that is tried first.
        keyless: whether it works without a key.
        local: whether it runs on the user's own machine.
        relays: whether it passes requests on to services elsewhere, wherever it runs.
        schema: how an answer in a shape is asked for: by a JSON schema, as any JSON with the
            schema in words, or in words alone.
        context: the window of models that are not known, in tokens; 0 when that is not known.
        effort: whether its models take `reasoning_effort`.
        variables: further environment variables, each with the setting that it is.
        embedded_items: most texts that are embedded in one request.
        embedded_tokens: most tokens of them all; 0 when that is not limited.
        takes_dimensions: whether it is told how long a vector is to be; else it is cut here.
        key_page: where a key is made.
        start: the command that starts it on the machine of the user.
    """

    name: str
    title: str
    address: str = ""
    family: Family = "openai"
    model: str = ""
    fallback: str = ""
    small: str = ""
    vision: str = ""
    embedding: str = ""
    before: str = ""
    keyless: bool = False
    local: bool = False
    relays: bool = False
    schema: SchemaWay = "native"
    context: int = 0
    effort: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    embedded_items: int = 100
    embedded_tokens: int = 0
    takes_dimensions: bool = False
    key_page: str = ""
    start: str = ""

    @property
    def variable(self) -> str:
        """The environment variable of its key; empty for a provider without keys."""
        return "" if self.keyless else f"{self.name.upper()}_API_KEY"

    @property
    def takes_loopback(self) -> bool:
        """True for a service that may run on this machine: it has no public address of its own."""
        return self.local or not self.address

    @property
    def may_be_here(self) -> bool:
        """True when a loopback address means that requests stay on this machine."""
        return self.takes_loopback and not self.relays
