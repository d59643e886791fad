"""A plugin that shows the view in a file, for what is seen of views at a terminal."""

from __future__ import annotations

import json
from pathlib import Path

from plugin_zoo import Animal
from vr_kernel.views import View, as_data

MIRROR = Animal(
    "mirror",
    '''
import json
from pathlib import Path

from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, Code, VrError, hookimpl, tool, view
from vr_kernel.views import from_data


class Seen(BaseModel):
    """The path of a file."""

    file: str


@tool(effects=READ_ONLY)
async def mirror_look(call: Call, file: str) -> Seen:
    """Look into the mirror."""
    return Seen(file=file)


@tool(effects=READ_ONLY)
async def mirror_break(call: Call, file: str) -> Seen:
    """Break the mirror."""
    told = json.loads(Path(file).read_text("utf-8"))["title"]
    call.progress(1, 2, told)
    raise VrError(told, Code.UNSUPPORTED, hint=told)


@view(tool="mirror_look")
async def show_seen(services, seen):
    """The view that the file holds."""
    return from_data(json.loads(Path(seen.file).read_text("utf-8")))


@hookimpl
def vr_tools():
    return [mirror_look, mirror_break]


@hookimpl
def vr_views():
    return [show_seen]
''',
)


def keep_view(view: View, folder: Path) -> str:
    """Write a view to a file, and return its path."""
    file = folder / "view.json"
    file.write_text(json.dumps(as_data(view)), "utf-8")
    return str(file)
