"""Write docs/reference/settings.md from the models of all sections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from generated_page import cell, code, fresh_config, publish, type_words
from pydantic import BaseModel
from vr_kernel import Kernel
from vr_kernel.config.config import aliases_of
from vr_kernel.config.model_settings import ModelsSettings
from vr_kernel.config.settings import (
    HttpSettings,
    KernelSettings,
    ServeSettings,
    StoreSettings,
)

FIRST_PARTY = (
    "infra,video,knowledge,demo,pages,embedder-minilm,ocr-rapidocr,ocr-tesseract,models,tracing"
)
SECTIONS: Mapping[str, type[BaseModel]] = {
    "kernel": KernelSettings,
    "kernel.http": HttpSettings,
    "kernel.serve": ServeSettings,
    "models": ModelsSettings,
    "store": StoreSettings,
}
HEAD = """# Settings

Generated from the models of the settings by `python scripts/settings_reference.py`; a test fails
when this page differs from them. [Configure it](../how-to/configure.md) says where to write them
and which layer wins.

In a variable a list is written with commas, folders as in `PATH`. Names that end in `_s` are
seconds. A variable in brackets is another name for the same setting.
"""


def render() -> str:
    """The whole page."""
    with fresh_config(FIRST_PARTY) as config:
        settings = Kernel(config).settings
    plugins = {f"plugins.{name}": type(model) for name, model in sorted(settings.items())}
    sections = {**SECTIONS, **plugins}
    return "\n".join(
        [HEAD, *(line for name in sections for line in _section(name, sections[name]))]
    )


def _section(name: str, model: type[BaseModel]) -> Iterator[str]:
    schema = model.model_json_schema()
    if not schema["properties"]:
        return
    aliases: dict[str, list[str]] = {}
    for variable, alias in aliases_of(name, model).items():
        aliases.setdefault(alias.key, []).append(variable)
    yield f"## [{name}]\n"
    yield "| key | type | default | variable | |"
    yield "|---|---|---|---|---|"
    for key, field in schema["properties"].items():
        variables = [_variable(name, key), *(f"(`{other}`)" for other in aliases.get(key, ()))]
        row = [f"`{key}`", _type(field), code(field.get("default")), " ".join(variables)]
        yield f"| {' | '.join([*row, cell(field.get('description', ''))])} |"
    yield ""


def _variable(section: str, key: str) -> str:
    words = section.removeprefix("plugins.").replace(".", "__").replace("-", "_")
    return f"`VR_{words}__{key}`".upper()


def _type(schema: Mapping[str, Any]) -> str:
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    if schema.get("format") == "password":
        return "secret"
    if schema.get("format") == "path":
        return "folder"
    return type_words(schema)


if __name__ == "__main__":
    publish("settings.md", render)
