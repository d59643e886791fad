"""Endings of files that a tool's result can be kept in, beside those of every result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vr_kernel import Code, Tool, VrError
from vr_kernel.files import URI_PREFIX
from vr_kernel.running import Outcome

from vr_cli.showing.output_file import RENDERED

FORMAT = "format"
"""The argument that chooses between kinds of files."""
ADDRESS = "uri"
"""The field of a result that is a file."""
ENDINGS = {"text": "txt", "mermaid": "mmd"}
"""Endings of the files of those formats that are not called as their files end."""
OF_NO_FILE = {"segments", "table"}
"""Formats that are a shape of the result, not a kind of file."""
OF_A_JOB = "job_result"
"""The tool that returns what any other tool made in a job."""


def possible_endings(tool: Tool) -> set[str]:
    """Endings by the schemas of a tool: its formats, or any when it may return other files."""
    formats = formats_of(tool)
    if formats:
        return {_ending_of(each) for each in formats - OF_NO_FILE}
    has_file = tool.name == OF_A_JOB or ADDRESS in tool.output_schema.get("properties", {})
    return {"*"} if has_file else set()


def formats_of(tool: Tool) -> set[str]:
    """The formats of files between which a tool lets choose."""
    return {str(it) for it in _format_of(tool).get("enum", ())}


def with_format(tool: Tool, arguments: Mapping[str, Any], ending: str) -> dict[str, Any]:
    """The arguments, with the format that the ending of the file says.

    Raises:
        VrError: INVALID_INPUT when another format was asked for, or when the tool makes no such
            file and its result is nothing but the file.
    """
    given = dict(arguments)
    wanted = _format_for(tool, ending)
    if _makes_files_alone(tool):
        if not wanted:
            known = " ".join(sorted(f".{_ending_of(each)}" for each in formats_of(tool)))
            message = f"{tool.name} makes no file that ends with .{ending}."
            raise VrError(
                message,
                Code.INVALID_INPUT,
                category="ENDING_UNKNOWN",
                hint=f"Possible here: {known}",
            )
    elif ending == "json" or not wanted:
        return given
    asked = given.setdefault(FORMAT, wanted)
    is_shape = asked in OF_NO_FILE
    if asked != wanted and not (is_shape and ending in RENDERED):
        instead = "" if is_shape else f", or name a file with .{_ending_of(asked)}"
        hint = f"Leave --format out{instead}."
        message = f"The file ends with .{ending}, but --format is {asked}."
        raise VrError(message, Code.INVALID_INPUT, hint=hint)
    return given


def is_made_by(tool: Tool, arguments: Mapping[str, Any], ending: str) -> bool:
    """Check that a tool itself makes a file with this ending, instead of a view being written.

    JSON, which every result can be written in, must be asked for as the format, unless files are
    all that the tool makes.
    """
    if ending not in RENDERED:
        return True
    wanted = _format_for(tool, ending)
    return bool(wanted) and arguments.get(FORMAT) == wanted


def _makes_files_alone(tool: Tool) -> bool:
    """Check for a tool whose result is always a file in the chosen format."""
    is_file = ADDRESS in tool.output_schema.get("required", ())
    return is_file and bool(formats_of(tool)) and not formats_of(tool) & OF_NO_FILE


def _format_for(tool: Tool, ending: str) -> str:
    """The format of a tool whose files end so; empty when it has none."""
    fitting = (it for it in formats_of(tool) - OF_NO_FILE if _ending_of(it) == ending)
    return next(fitting, "")


def _ending_of(form: str) -> str:
    return ENDINGS.get(form, form)


def file_of(outcome: Outcome, ending: str, artifacts: Path) -> Path | None:
    """The first artifact of a result that ends so."""
    for uri in _addresses(outcome.data):
        path = artifacts / uri.rpartition("/")[2]
        if path.suffix[1:].lower() == ending and path.is_file():
            return path
    return None


def endings_of(outcome: Outcome) -> list[str]:
    """The endings of the artifacts of a result."""
    return sorted({Path(uri).suffix[1:] for uri in _addresses(outcome.data)} - {""})


def _format_of(tool: Tool) -> Mapping[str, Any]:
    found: Mapping[str, Any] = tool.input_schema.get("properties", {}).get(FORMAT, {})
    name = found.get("$ref", "").rpartition("/")[2]
    return {**tool.input_schema.get("$defs", {}).get(name, {}), **found}


def _addresses(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if value.startswith(URI_PREFIX):
            yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _addresses(each)
    elif isinstance(value, list):
        for each in value:
            yield from _addresses(each)
