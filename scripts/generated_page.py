"""Shared parts of the scripts that write a page of the documentation from the code."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vr_kernel import Config, load_config

FOLDER = Path(__file__).parents[1] / "docs" / "reference"


@contextmanager
def fresh_config(plugins: str) -> Iterator[Config]:
    """The configuration of a new user with these plugins, separated by commas."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {f"VR_{name}_DIR": folder for name in ("CONFIG", "STATE", "CACHE")}
        yield load_config(environ | {"VR_PLUGINS": plugins}, working_folder=Path(folder))


def type_words(schema: Mapping[str, Any]) -> str:
    """A JSON schema as a reader wants it: `integer ≥ 1`, or the choices."""
    if "enum" in schema:
        return " ".join(f"`{value}`" for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(type_words(choice) for choice in schema["anyOf"])
    kind = schema.get("type", "object")
    bounds = [
        f"{sign} {schema[word]}"
        for word, sign in (
            ("minimum", "≥"),
            ("exclusiveMinimum", ">"),
            ("maximum", "≤"),
            ("maxLength", "≤"),
        )
        if word in schema
    ]
    return f"{kind} {', '.join(bounds)}".strip()


def cell(text: str) -> str:
    """Text that stands in a table."""
    return text.replace("|", "\\|").replace("\n", " ")


def code(value: Any) -> str:
    """A value as JSON; nothing for none and for the empty text."""
    return "" if value in (None, "") else f"`{json.dumps(value)}`"


def publish(name: str, render: Callable[[], str], first: str = "") -> None:
    """Write the page, or with `--check` end with 1 when it differs from the code.

    Args:
        name: its file.
        render: makes its text.
        first: what a person has to do before it may be written anew.
    """
    page = FOLDER / name
    text = render()
    if "--check" not in sys.argv[1:]:
        page.write_text(text, "utf-8")
        sys.stdout.write(f"wrote {page.name}\n")
    elif not page.is_file() or page.read_text("utf-8") != text:
        sys.exit(f"{page.name} differs from the code: {first}run python {Path(sys.argv[0]).name}")
