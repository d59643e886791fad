"""Write docs/reference/settings.md from the models of all sections."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import takewhile
from typing import Any

from generated_page import cell, code, fresh_config, publish, type_words
from pydantic import BaseModel
from vr_kernel import Kernel, Section
from vr_kernel.config import Groups
from vr_kernel.config.config import aliases_of
from vr_kernel.config.model_settings import ModelsSettings
from vr_kernel.config.settings import (
    HttpSettings,
    KernelSettings,
    ServeSettings,
    StoreSettings,
)

FIRST_PARTY = (
    "infra,content,video,search,research,knowledge,demo,pages,"
    "embedder-minilm,ocr-rapidocr,ocr-tesseract,models,tracing"
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
    groups = model.groups if issubclass(model, Section) else None
    shared = {} if groups is None else groups.shared(model)
    for key, field in schema["properties"].items():
        if key not in shared or aliases.get(key) != [key.upper()]:
            yield _row(name, key, field, aliases.get(key, ()))
    if groups is not None:
        yield from _pattern(name, groups, shared, schema["properties"])
    yield ""


def _row(section: str, key: str, field: Mapping[str, Any], aliases: Collection[str]) -> str:
    variables = [_variable(section, key), *(f"(`{other}`)" for other in aliases)]
    cells = [f"`{key}`", _type(field), code(field.get("default")), " ".join(variables)]
    return f"| {' | '.join([*cells, cell(field.get('description', ''))])} |"


def _pattern(
    section: str, groups: Groups, shared: Mapping[str, str], fields: Mapping[str, Any]
) -> Iterator[str]:
    """The settings that all groups have, once for all of them."""
    stands = f"<{groups.kind}>"
    for setting in dict.fromkeys(shared.values()):
        same = [fields[key] for key, name in shared.items() if name == setting]
        said = [str(field.get("description", "")) for field in same]
        begins = _common(said)
        ends = _common([text[len(begins) :][::-1] for text in said])[::-1]
        text = begins if begins == said[0] else f"{begins}…{ends}"
        key = f"{stands}_{setting}"
        yield _row(section, key, {**same[0], "description": text}, [key.upper()])
    yield f"\n`{stands}` is one of {', '.join(f'`{name}`' for name in groups.names)}."


def _common(texts: Collection[str]) -> str:
    """The letters with which all texts begin."""
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False))
    return "".join(letters[0] for letters in same)


def _variable(section: str, key: str) -> str:
    plugin = section.removeprefix("plugins.")
    words = (section if plugin in SECTIONS else plugin).replace(".", "__").replace("-", "_")
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
