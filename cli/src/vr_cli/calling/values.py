"""Parses values of arguments as they are typed: text, JSON, or the content of a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from vr_kernel import Tool


def schema_of(tool: Tool, name: str) -> Mapping[str, Any]:
    """The schema of an argument and of its items, with references resolved; empty when unknown."""
    found = _resolved(tool, tool.input_schema.get("properties", {}).get(name, {}))
    return {**found, "items": _resolved(tool, found["items"])} if "items" in found else found


@contextmanager
def named(argument: str) -> Iterator[None]:
    """Add the name of the argument to the error of its value."""
    try:
        yield
    except click.BadParameter as error:
        error.param_hint = argument
        raise


def parse_value(schema: Mapping[str, Any], text: str) -> Any:
    """The value of an argument: JSON or `@file` where the tool does not take text.

    Raises:
        click.BadParameter: when the file cannot be read, or a list or an object is not valid JSON.
    """
    if _takes_text(schema):
        return text
    if schema.get("type") == "array":
        return parse_items(schema, [text])
    return _parse_json(text)


def parse_items(schema: Mapping[str, Any], texts: Sequence[str]) -> list[Any]:
    """The items of a list: each by itself, or all of them as one JSON list."""
    items = schema.get("items", {})
    first = texts[0] if len(texts) == 1 else ""
    if first.startswith("[") or (first.startswith("@") and not _takes_text(items)):
        whole = _parse_json(first)
        if isinstance(whole, list):
            return whole
    return [parse_value(items, text) for text in texts]


def _parse_json(text: str) -> Any:
    where = f"The text of {text[1:]}" if text.startswith("@") else "It"
    if text.startswith("@"):
        try:
            text = Path(text[1:]).read_text("utf-8")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise click.BadParameter(f"{text[1:]} cannot be read: {reason}") from error
    try:
        return json.loads(text)
    except ValueError as error:
        if text.lstrip().startswith(("{", "[")):
            raise click.BadParameter(f"{where} is not valid JSON: {error}.") from error
        return text


def _resolved(tool: Tool, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return {**tool.input_schema.get("$defs", {}).get(name, {}), **schema}


def _takes_text(schema: Mapping[str, Any]) -> bool:
    return any(choice.get("type") == "string" for choice in schema.get("anyOf", [schema]))
