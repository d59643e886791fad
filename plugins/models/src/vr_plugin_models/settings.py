"""`[plugins.models]`: keys, addresses and models of each provider, made from the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field, SecretStr, create_model
from vr_kernel import EnvAlias, Section
from vr_kernel.config import Groups

from vr_plugin_models.catalogue.provider_row import ProviderRow
from vr_plugin_models.catalogue.providers import PROVIDERS

SHARED: dict[str, tuple[type[Any], Any, str]] = {
    "api_key": (SecretStr, SecretStr(""), "Key of {title}."),
    "base_url": (str, "", "Another address of {title}."),
    "model": (str, "", "Model of {title} for most work."),
    "fallback_model": (str, "", "Model of {title} that is asked when that one does not answer."),
    "recursive_model": (str, "", "Model of {title} for small work and parts of large questions."),
    "vision_model": (str, "", "Model of {title} that looks at pictures."),
    "embedding_model": (str, "", "Model of {title} that turns texts into vectors."),
    "context_window": (int, 0, "Window of its models, in tokens, where it is not known."),
}
"""The settings that every provider has, each with its type, default and description."""
_OWN: dict[str, dict[str, tuple[Any, Any, str]]] = {
    "zai": {"coding_plan": (bool, True, "Try the address of the coding plan first.")},
    "azure_openai": {"api_version": (str, "2025-04-01-preview", "Version of the interface.")},
    "ollama": {"keep_alive": (str, "", "How long a model stays loaded, such as 10m.")},
}


def section() -> type[Section]:
    """The model of the section."""
    fields: dict[str, Any] = {}
    for row in PROVIDERS:
        fields |= dict(_fields(row))
    made: type[Section] = create_model("ModelsPluginSettings", __base__=Section, **fields)
    made.groups = Groups("provider", tuple(row.name for row in PROVIDERS))
    made.__doc__ = "`[plugins.models]`: providers of language models."
    return made


def _fields(row: ProviderRow) -> Iterator[tuple[str, Any]]:
    for name, (kind, default, description) in {**SHARED, **_OWN.get(row.name, {})}.items():
        if name == "context_window":
            field = Field(default, ge=0, description=description.format(title=row.title))
        else:
            field = Field(default, description=description.format(title=row.title))
        variables = [f"{row.name}_{name}".upper()]
        variables += [variable for variable, key in row.variables.items() if key == name]
        marks = tuple(EnvAlias(variable) for variable in dict.fromkeys(variables))
        yield f"{row.name}_{name}", (Annotated[(kind, *marks)], field)
