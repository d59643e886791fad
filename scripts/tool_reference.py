"""Write docs/reference/tools.md from the tools' own schemas."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vr_kernel import Kernel, load_config
from vr_kernel.tools import Tool

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "tools.md"
FIRST_PARTY = "infra,video,knowledge"
HEAD = """# Tools

Generated from the tools themselves by `python scripts/tool_reference.py`; a test fails when this
page differs from them. Every tool is also a command: `video_analyze` is `vr video analyze`.
"""


def render() -> str:
    """The whole page."""
    with tempfile.TemporaryDirectory() as folder:
        names = ("CONFIG", "STATE", "CACHE")
        environ = {f"VR_{name}_DIR": folder for name in names} | {"VR_PLUGINS": FIRST_PARTY}
        tools = Kernel(load_config(environ)).tools
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


def _row(name: str, schema: dict[str, Any], *, required: bool) -> str:
    default = "required" if required else _code(schema.get("default"))
    text = schema.get("description", "").replace("|", "\\|")
    return f"| `{name}` | {_type(schema)} | {default} | {text} |"


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " ".join(f"`{value}`" for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_type(choice) for choice in schema["anyOf"])
    kind = schema.get("type", "object")
    bounds = [
        f"{sign} {schema[word]}"
        for word, sign in (("minimum", "≥"), ("maximum", "≤"), ("maxLength", "≤"))
        if word in schema
    ]
    return f"{kind} {', '.join(bounds)}".strip()


def _code(value: Any) -> str:
    return "" if value in (None, "") else f"`{json.dumps(value)}`"


def _fields(tool: Tool) -> str:
    return ", ".join(f"`{name}`" for name in tool.output_schema.get("properties", {}))


if __name__ == "__main__":
    PAGE.write_text(render(), "utf-8")
    sys.stdout.write(f"wrote {PAGE.name}\n")
