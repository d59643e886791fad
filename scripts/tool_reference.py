"""Write docs/reference/tools.md from the tools' own schemas."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generated_page import cell, code, fresh_config, publish, type_words
from vr_kernel import Kernel
from vr_kernel.tools import Tool

FIRST_PARTY = "infra,content,video,search,research,knowledge"
SHOWN = Path(__file__).parents[1] / "tests" / "documentation" / "shown"
HEAD = """# Tools

Generated from the tools themselves by `python scripts/tool_reference.py`; a test fails when this
page differs from them. Every tool is also a command: `video_analyze` is `vr video analyze`.

Below each tool stands a call, and what a person sees of the result where there is no terminal, 80
columns wide; a longer one ends with `…`. The tests make the calls, with the talk that `vr demo
--copy .` puts into a folder, and in place of Gemini and YouTube with two servers of this machine.
"""


def render() -> str:
    """The whole page."""
    with fresh_config(FIRST_PARTY) as config:
        tools = Kernel(config).tools
    return "\n".join([HEAD, *(line for tool in tools.values() for line in _section(tool))])


def _section(tool: Tool) -> Iterator[str]:
    yield f"## {tool.name}\n"
    yield f"{tool.description}\n"
    properties = tool.input_schema.get("properties", {})
    if properties:
        yield "| argument | type | default | |"
        yield "|---|---|---|---|"
        required = tool.input_schema.get("required", [])
        for name, schema in properties.items():
            yield _row(name, schema, required=name in required)
        yield ""
    effects = ", ".join(str(flag.name).lower().replace("_", " ") for flag in tool.effects)
    yield f"Effects: {effects}. Result: {_fields(tool)}.\n"
    yield f"```text\n{(SHOWN / f'{tool.name}.txt').read_text('utf-8')}```\n"


def _row(name: str, schema: dict[str, Any], *, required: bool) -> str:
    default = "required" if required else code(schema.get("default"))
    return (
        f"| `{name}` | {type_words(schema)} | {default} | {cell(schema.get('description', ''))} |"
    )


def _fields(tool: Tool) -> str:
    return ", ".join(f"`{name}`" for name in tool.output_schema.get("properties", {}))


if __name__ == "__main__":
    publish("tools.md", render)
