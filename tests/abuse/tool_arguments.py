"""Tools and their arguments as their schemas tell them, sorted by the kind of value they take."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from vr_kernel import Kernel, load_config

CLIP = "clip.mp4"
JOB_ID = "0123456789abcdef" * 2
COLLECTION = "VideoSegments"
# Values that a tool is called with while another argument is abused, by the argument's name.
VALUES: Mapping[str, Any] = {
    "collection": COLLECTION,
    "file_path": CLIP,
    "interaction_id": "00000000-0000-0000-0000-000000000000",
    "job_id": JOB_ID,
    "object_id": "00000000-0000-0000-0000-000000000000",
    "paper_id": "10.5555/recall.1",
    "properties": {"title": "A thing"},
    "query": "recall",
    "report_id": "00000000-0000-0000-0000-000000000000",
    "schema": {"type": "object", "properties": {"name": {"type": "string"}}},
    "source": "notes.md",
    "session_id": "0123456789ab",
    "tool": "infra_plugins",
    "topic": "How recall improved",
    "url": "https://www.youtube.com/watch?v=dQw4w9WgXcQ&list=PL0123456789",
}
NOBODY = ("127.0.0.1", 9)
"""In place of YouTube and of searches: the only address that may be asked, and no one is there."""
# Filled in even where they may be left out: without them a call is refused before it looks
# at the argument in question, or takes long.
ALWAYS: Mapping[str, Any] = {
    "directory": ".",
    "estimate_only": True,
    "file_path": CLIP,
    "ocr": False,
    "engine": "local",
    "wait_s": 0,
    "object_ids": ["00000000-0000-0000-0000-000000000000"],
}

OF_TOOLS: Mapping[str, Mapping[str, Any]] = {"research_document": {"file_paths": [CLIP]}}
"""Likewise, for single tools."""
INSTEAD: Mapping[str, str] = {"file_paths": "directory", "urls": "file_paths"}
"""Arguments that are given instead of others, which are then left out."""


class Kind(StrEnum):
    """Kinds of values, as far as an argument's schema and its name tell."""

    PATH = "path"
    FOLDER = "folder"
    PATTERN = "pattern"
    URL = "url"
    SCHEMA = "schema"
    DATE = "date"
    TIME = "time"
    IDENTIFIER = "identifier"
    CHOICE = "choice"
    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    OBJECT = "object"


TEXTS = frozenset(
    {
        *(Kind.PATH, Kind.FOLDER, Kind.PATTERN, Kind.URL, Kind.DATE, Kind.TIME),
        *(Kind.IDENTIFIER, Kind.TEXT),
    }
)
NUMBERS = frozenset({Kind.INTEGER, Kind.NUMBER})
_WORDS = {
    Kind.PATTERN: "glob pattern",
    Kind.FOLDER: "folder folders directory dir root",
    Kind.PATH: "path paths file files filename",
    Kind.URL: "url urls uri uris link links href address website",
    Kind.DATE: "date since until day month",
    Kind.TIME: "start end time timestamp",
    Kind.IDENTIFIER: "id ids cursor handle token key job collection collections",
}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of one tool; a list's kind is the kind of its elements."""

    tool: str
    name: str
    kind: Kind
    is_list: bool
    required: bool
    schema: Mapping[str, Any]

    def given(self, value: Any) -> Any:
        """A value in the shape that the argument takes: in a list where it takes one."""
        return [value] if self.is_list else value

    def __str__(self) -> str:
        return f"{self.tool}-{self.name}"


def installed_arguments() -> tuple[Argument, ...]:
    """Every argument of every installed tool, plugins of others included."""
    return tuple(each for arguments in _survey().values() for each in arguments)


def installed_tools() -> tuple[str, ...]:
    """The names of all installed tools, also of those without arguments."""
    return tuple(_survey())


def installed_prompts() -> tuple[str, ...]:
    """The names of all installed prompts, those of plugins of others included."""
    return _found()[1]


def of_kind(*kinds: Kind) -> list[Argument]:
    """The installed arguments of these kinds."""
    return [argument for argument in installed_arguments() if argument.kind in kinds]


def sampled(arguments: Iterable[Argument]) -> list[Any]:
    """All of these as parameters; one of each tool and of each kind is fast, the others are slow.

    Most values are refused by the check of arguments that all tools share.
    """
    parameters: list[Any] = []
    seen: set[object] = set()
    for argument in arguments:
        traits = {argument.tool, (argument.kind, argument.is_list)}
        marks = () if traits - seen else pytest.mark.slow
        parameters.append(pytest.param(argument, id=str(argument), marks=marks))
        seen |= traits
    return parameters


def filled(tool: str, beside: str = "") -> dict[str, Any]:
    """Arguments that the tool takes, without the one named `beside`.

    Raises:
        LookupError: when an argument is of no known name and no kind that can be made up.
    """
    made: dict[str, Any] = {}
    for argument in installed_arguments():
        if argument.tool != tool or argument.name in (beside, INSTEAD.get(beside)):
            continue
        always = {**ALWAYS, **OF_TOOLS.get(tool, {})}
        if argument.name in always:
            made[argument.name] = always[argument.name]
        elif argument.required:
            made[argument.name] = _value(argument)
    return made


def _value(argument: Argument) -> Any:
    if argument.name in VALUES:
        return VALUES[argument.name]
    if argument.kind is Kind.CHOICE and "enum" in argument.schema:
        return argument.given(argument.schema["enum"][0])
    if argument.kind is Kind.BOOLEAN:
        return argument.given(value=False)
    if argument.kind in NUMBERS:
        return argument.given(argument.schema.get("minimum", 1))
    if argument.kind is Kind.TEXT:
        return argument.given("recall")
    message = f"{argument}: add a value of {argument.name!r} to VALUES in {Path(__file__).name}"
    raise LookupError(message)


def survey(kernel: Kernel) -> dict[str, tuple[Argument, ...]]:
    """The arguments of each tool of a kernel."""
    return {
        name: tuple(_arguments(name, tool.arguments.model_json_schema()))
        for name, tool in kernel.tools.items()
    }


def _survey() -> dict[str, tuple[Argument, ...]]:
    return _found()[0]


@cache
def _found() -> tuple[dict[str, tuple[Argument, ...]], tuple[str, ...]]:
    """Asked once, while tests are collected: no event loop runs then."""
    return asyncio.run(_ask())


async def _ask() -> tuple[dict[str, tuple[Argument, ...]], tuple[str, ...]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = load_config(environ=environment(folder), working_folder=folder)
        async with Kernel.open(config, roots=[]) as kernel:
            return survey(kernel), tuple(kernel.prompts)


def environment(folder: Path) -> dict[str, str]:
    """The whole environment of a kernel below a folder: no key, no network, all plugins whole."""
    return {
        "HOME": str(folder / "home"),
        "VR_STATE_DIR": str(folder / "state"),
        "VR_CACHE_DIR": str(folder / "cache"),
        "VR_CONFIG_DIR": str(folder / "config"),
        "VR_STRICT": "1",
        "VR_VIDEO__YOUTUBE_SITE": "http://{}:{}".format(*NOBODY),
        "VR_VIDEO__YOUTUBE_API_ENDPOINT": "http://{}:{}".format(*NOBODY),
        "VR_SEARCH__SEMANTIC_SCHOLAR_BASE_URL": "http://{}:{}".format(*NOBODY),
        "VR_SEARCH__OPENALEX_BASE_URL": "http://{}:{}".format(*NOBODY),
        "VR_SEARCH__ARXIV_BASE_URL": "http://{}:{}".format(*NOBODY),
    }


def _arguments(tool: str, schema: Mapping[str, Any]) -> Iterator[Argument]:
    known = schema.get("$defs", {})
    for name, declared in schema.get("properties", {}).items():
        flat = _flat(declared, known)
        is_list = flat.get("type") == "array"
        inner = _flat(flat.get("items", {}), known) if is_list else flat
        required = name in schema.get("required", ())
        yield Argument(tool, name, _kind(name, inner), is_list, required, inner)


def _flat(schema: Mapping[str, Any], known: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema without references, and the first of its choices that is not null."""
    while True:
        if "$ref" in schema:
            schema = known[schema["$ref"].rpartition("/")[2]]
        elif "anyOf" in schema:
            schema = next(s for s in schema["anyOf"] if s.get("type") != "null")
        else:
            return schema


def _kind(name: str, schema: Mapping[str, Any]) -> Kind:
    if "enum" in schema or "const" in schema:
        return Kind.CHOICE
    type_ = schema.get("type")
    if type_ == "object":
        return Kind.SCHEMA if name.endswith("schema") else Kind.OBJECT
    if type_ in ("integer", "number", "boolean"):
        return Kind(type_)
    if str(schema.get("format", "")).startswith("date"):
        return Kind.DATE
    words = set(re.split(r"_+", name.lower()))
    fitting = (kind for kind, known in _WORDS.items() if words & set(known.split()))
    return next(fitting, Kind.TEXT)
