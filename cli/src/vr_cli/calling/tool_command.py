"""Makes a command of every tool, from its schema."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from vr_kernel import Code, Effects, Kernel, Log, Tool, VrError, visible
from vr_kernel.isolation import contained

from vr_cli.calling.calls import LOCAL, run_each
from vr_cli.calling.ids import KIND, RECORD, parted
from vr_cli.calling.results import FOUND
from vr_cli.calling.secrets import UNSEEN, is_secret, read_secret
from vr_cli.calling.values import named, parse_items, parse_value, schema_of
from vr_cli.showing.wanted import options, taken_from

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
SOURCE = "source"
ESTIMATE = "--estimate"
_SOURCE_IS = "SOURCE is a web address with https://, or a path on this machine."
_RECORD_IS = f"{RECORD.upper()} may be {KIND.upper()}/{RECORD.upper()} alone, as lists print it."
_NAMES = ("_id", "_path", "url", "directory", "collection", "name", "kind", "key")
"""Ends of names of arguments that take one word, such as the name of something."""
OTHERS = {SOURCE: ("url", *LOCAL, SOURCE, "text"), "directory": ("directory", "file_paths")}
"""Options that may stand in place of a positional argument."""
_SOURCES_ARE = f"{_SOURCE_IS} Several are taken one after another."


def tool_command(kernel: Kernel, tool: Tool) -> click.Command:
    """The command of a tool: its arguments are options; required ones may also be positional.

    A tool that needs one source takes several, and is called for each; a question may be given
    without quotes, and the items of a list one after another.
    """
    schemas = {name: schema_of(tool, name) for name in tool.input_schema.get("properties", {})}
    if "limit" in schemas and FOUND in tool.output_schema.get("properties", {}):
        schemas["limit"] = {**schemas["limit"], "description": "Most results in all"}
    estimable = Effects.PAID in tool.effects and "estimate" not in schemas
    places = positions(tool)
    several = places == [SOURCE]
    words = bool(places) and not several and _is_text(places[-1], schemas)
    items = bool(places) and schemas.get(places[-1], {}).get("type") == "array"

    def invoke(**given: Any) -> int:
        wanted = taken_from(given)
        _fill_in_secrets(schemas, given)
        estimate = estimable and given.pop("estimate")
        by_place = {place: given.pop(_key(place)) for place in places}
        sources = by_place.pop(SOURCE) if several else ()
        if items:
            by_place[places[-1]] = by_place[places[-1]] or None
        if words:
            by_place[places[-1]] = " ".join(by_place[places[-1]]) if by_place[places[-1]] else None
        by_place = parted(kernel, by_place, given)
        _require_places(places, {**by_place, SOURCE: sources or by_place.get(SOURCE)}, given)
        calls = {}
        for source in dict.fromkeys(sources) or [None]:
            placed = {**by_place, SOURCE: source} if several else by_place
            arguments = _arguments(tool, schemas, placed, given, kernel.log)
            calls[source or ""] = arguments
        check = partial(_require_no_folder, kernel, tool)
        return run_each(kernel, tool.name, calls, wanted, check=check, estimate=estimate)

    parameters: list[click.Parameter] = [_argument(place) for place in places]
    if several or words or items:
        parameters[-1] = _argument(places[-1], many=True)
    parameters += [_option(name, schema, places) for name, schema in schemas.items()]
    if estimable:
        parameters.append(click.Option([ESTIMATE], is_flag=True, help="Only tell what it costs."))
    parameters += options([_flag(name) for name in schemas])
    epilog = _SOURCES_ARE if several else _SOURCE_IS if SOURCE in places else None
    epilog = _RECORD_IS if {RECORD, KIND} <= {*places} else epilog
    return click.Command(
        None, params=parameters, callback=invoke, help=visible(tool.description), epilog=epilog
    )


def _argument(place: str, *, many: bool = False) -> click.Argument:
    metavar = f"{place.upper()}..." if many else place.upper()
    return click.Argument([_key(place)], required=False, metavar=metavar, nargs=-1 if many else 1)


def _fill_in_secrets(schemas: Mapping[str, Mapping[str, Any]], given: dict[str, Any]) -> None:
    """Read the secrets for which `-` stands, once for all calls."""
    for name, schema in schemas.items():
        if is_secret(schema) and given.get(name) == UNSEEN:
            with named(_flag(name)):
                given[name] = read_secret(_flag(name))


def _require_places(
    places: Sequence[str], placed: Mapping[str, Any], options: Mapping[str, Any]
) -> None:
    """Refuse a call that lacks what the command needs, in the words of its usage."""
    for place in places:
        slots = OTHERS.get(place, (place,))
        if placed.get(place) in (None, ()) and all(
            options.get(slot) in (None, ()) for slot in slots
        ):
            said = f" {_SOURCE_IS}" if place == SOURCE else ""
            context = click.get_current_context()
            raise click.UsageError(f"{place.upper()} is missing.{said}", context)


def _arguments(
    tool: Tool,
    schemas: Mapping[str, Mapping[str, Any]],
    placed: Mapping[str, Any],
    options: Mapping[str, Any],
    log: Log,
) -> dict[str, Any]:
    """The checked arguments of one call, from what was given by position and by name."""
    given = dict(options)
    for place, value in placed.items():
        if value is not None:
            slot = _slot(tool, place, value)
            if given[slot] not in (None, ()):
                raise click.UsageError(f"Give {place.upper()} or {_flag(slot)}, not both.")
            given[slot] = value
    arguments = {}
    for name, value in given.items():
        if value is not None and value != ():
            with named(_flag(name)):
                arguments[name] = _converted(schemas[name], value)
    with contained(tool.name, tool.plugin, log):
        tool.validate(arguments, _flag)
    return arguments


def _require_no_folder(kernel: Kernel, tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Point to the tool that takes folders, when this one takes a file and was given a folder.

    Raises:
        VrError: INVALID_INPUT.
    """
    path = arguments.get("file_path")
    if "folder" in schema_of(tool, "file_path").get("description", "").casefold():
        return
    if not isinstance(path, str) or not Path(path).expanduser().is_dir():
        return
    verb = tool.name.rpartition("_")[2]
    near = [
        other.name
        for other in kernel.tools.values()
        if other.domain == tool.domain
        and other.name.endswith(verb)
        and "directory" in other.input_schema.get("properties", {})
    ]
    own = tool.name.replace("_", " ", 1).replace("_", "-")
    fit = near[0].replace("_", " ", 1).replace("_", "-") if near else ""
    path = shlex.quote(path)
    instead = f"vr {fit} {path}" if fit else f"vr {own} {path.rstrip('/')}/*"
    whole = "For all that is in it" if fit else "For each of the files in it"
    raise VrError(f"{path} is a folder.", Code.INVALID_INPUT, hint=f"{whole}: {instead}")


def _is_text(place: str, schemas: Mapping[str, Mapping[str, Any]]) -> bool:
    """True when a text may be given as several words: a question, but not an id or a name."""
    schema = schemas[place]
    plain = schema.get("type") == "string" and not {"enum", "format", "pattern"} & schema.keys()
    return plain and not place.endswith(_NAMES)


def positions(tool: Tool) -> list[str]:
    """Positional arguments: `source` or a folder, when a tool takes one, then all required ones."""
    properties = tool.input_schema.get("properties", {})
    needed: list[str] = tool.input_schema.get("required", [])
    taken = [name for name in properties if name in needed]
    if not taken and {"directory", "file_paths"} <= properties.keys():
        return ["directory"]
    if "url" in properties and not properties.keys().isdisjoint(LOCAL):
        return [SOURCE, *(name for name in taken if name not in ("url", *LOCAL))]
    return taken


def _key(place: str) -> str:
    """The name of a positional argument; the option for it keeps the tool's own name."""
    return f"place_{place}"


def _slot(tool: Tool, place: str, value: str) -> str:
    if place != SOURCE or SOURCE in tool.input_schema["properties"]:
        return place
    local = next(name for name in LOCAL if name in tool.input_schema["properties"])
    return "url" if _SCHEME.match(value) else local


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _option(name: str, schema: Mapping[str, Any], places: Sequence[str]) -> click.Option:
    declaration = _flag(name)
    default = schema.get("default")
    help_text = visible(schema.get("description", ""))
    if name in places:
        help_text = f"{help_text} [the same as {name.upper()}]".strip()
    if is_secret(schema):
        help_text = f"{help_text} [{UNSEEN}: typed unseen]".strip()
    if schema.get("type") == "array":
        help_text = f"{help_text} [may be given several times]".strip()
    if schema.get("type") == "boolean" and default is not None:
        default = declaration if default else f"--no-{declaration[2:]}"
    if default not in (None, "", [], {}):
        help_text = f"{help_text} [default: {default}]".strip()
    if schema.get("type") == "boolean":
        also = ["--yes"] if name == "confirm" else []
        declared = [f"{declaration}/--no-{declaration[2:]}", *also, name]
        return click.Option(declared, default=None, help=help_text)
    if "enum" in schema:
        kind: Any = click.Choice([str(choice) for choice in schema["enum"]])
        return click.Option([declaration, name], type=kind, help=help_text)
    metavar = {"integer": "N", "number": "N", "object": "JSON", "array": "VALUE"}
    return click.Option(
        [declaration, name],
        multiple=schema.get("type") == "array",
        metavar=metavar.get(schema.get("type", ""), "TEXT"),
        help=help_text,
    )


def _converted(schema: Mapping[str, Any], value: Any) -> Any:
    if isinstance(value, tuple):
        return parse_items(schema, value)
    return parse_value(schema, value) if isinstance(value, str) else value
