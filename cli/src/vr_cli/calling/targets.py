"""Keeps results of tools in the file that a person wants, or says why that is not possible."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel
from vr_kernel import Code, Kernel, Services, Tool, VrError
from vr_kernel.running import Outcome
from vr_kernel.views import MORE, shown_host, titled

from vr_cli.calling.endings import endings_of, file_of, is_made_by, possible_endings
from vr_cli.calling.results import (
    document_of,
    is_read,
    remark_on,
    stands_alone,
    told_in_view,
    whole_of,
    without_cursor,
)
from vr_cli.showing.browser import readable_name
from vr_cli.showing.output_file import RENDERED, OutputFile, require_output
from vr_cli.showing.presenting import Presented, make_page, write_view
from vr_cli.showing.wanted import Wanted

SOURCES = ("file_path", "url", "path", "source")
"""Arguments of which a readable name is made."""
TEXTS = ("md", "txt")
"""Endings of files that a document is written to as it is."""


def require_target(
    tool: Tool, calls: Mapping[str, Mapping[str, Any]], wanted: Wanted
) -> OutputFile | None:
    """Return the file that is wanted, checked before a call is made; None without one.

    Raises:
        click.UsageError: for several sources.
        VrError: when the file cannot be written.
    """
    if wanted.output is None:
        return None
    if len(calls) > 1:
        raise click.UsageError("-o FILE takes one source; run it once for each.")
    arguments = next(iter(calls.values()))
    name = _name(tool, arguments)
    return require_output(wanted.output, name, possible_endings(tool), force=wanted.force)


async def prepared(
    kernel: Kernel,
    tool: Tool,
    arguments: Mapping[str, Any],
    outcome: Outcome,
    wanted: Wanted,
    target: OutputFile | None,
) -> Presented | None:
    """Make the view of a result, and the file and page that are wanted; None for an error."""
    result, services = outcome.result, kernel.services
    if outcome.error is not None or result is None:
        return None
    notes = tuple(each for each in outcome.notes if each != MORE)
    ready = Presented(outcome.data, None, notes, titled(tool.name))
    folder, elsewhere = services.artifacts.folder, target is not None or wanted.in_browser
    made = target is not None and is_made_by(tool, arguments, target.ending)
    if elsewhere or not wanted.as_json:
        views = services.views
        read = bool(tool.printed) and is_read(tool, result, await views.of_result(tool, result))
        made = made or (read and target is not None and target.ending in TEXTS)
        if not elsewhere and stands_alone(tool, result, views, read=read):
            ready.document = document_of(result, tool.printed, folder)
        shown = whole_of(result, tool.printed, folder) if read else result
        if made or ready.document:
            shown = without_cursor(shown, tool.printed, folder)
        await _describe(ready, services, tool, shown, outcome, remarked=made or ready.document)
    if target is not None:
        if not made or not _keep_file(ready, tool, result, outcome, folder, target):
            await write_view(ready, services, target)
        if made and ready.kept and ready.view is not None:  # not in the file of a tool
            ready.notes = (*ready.notes, *ready.view.notes)
    if wanted.in_browser:
        await make_page(ready, services)
    return ready


async def _describe(
    ready: Presented,
    services: Services,
    tool: Tool,
    result: BaseModel,
    outcome: Outcome,
    *,
    remarked: object,
) -> None:
    """Make the view of a result; what no view says of a document is a remark."""
    ready.view = told_in_view(await services.views.of_result(tool, result), outcome.notes)
    if remarked and not services.views.has("tool", tool.name):
        ready.notes = (*ready.notes, *remark_on(result))


def _keep_file(
    ready: Presented,
    tool: Tool,
    result: BaseModel,
    outcome: Outcome,
    artifacts: Path,
    target: OutputFile,
) -> bool:
    """Keep a file that the tool made, or the document that it returned.

    False where it made neither and a view can be written instead; a failure is kept for the end.
    """
    try:
        document = document_of(result, tool.printed, artifacts)
        if made := file_of(outcome, target.ending, artifacts):
            target.copy(made)
        elif document:
            target.write(f"{document.rstrip()}\n")
        elif target.ending in RENDERED:
            return False
        else:
            raise _no_such_file(target, outcome)
        ready.kept = target.named
    except VrError as error:
        ready.failure = error
    return True


def _no_such_file(target: OutputFile, outcome: Outcome) -> VrError:
    known = " ".join(f".{each}" for each in dict.fromkeys([*endings_of(outcome), *RENDERED]))
    return VrError(
        f"{target.shown} was not written: the result has no file with .{target.ending}.",
        Code.INVALID_INPUT,
        category="ENDING_UNKNOWN",
        hint=f"Possible here: {known}",
    )


def _name(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """A readable name for a file: of the source where there is one, else of the tool."""
    source = next((arguments[it] for it in SOURCES if isinstance(arguments.get(it), str)), "")
    return readable_name(Path(shown_host(source)).stem if source else tool.name.replace("_", " "))
