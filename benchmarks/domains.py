"""Eight plugins of 75 tools in all, written for measuring what so many tools cost a start.

Their signatures are like those of the first-party plugins: one module a tool, shared kinds of
arguments, nested results, settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DOMAINS = ("astronomy", "botany", "cinema", "dialect", "ecology", "forge", "garden", "harbour")
TOOLS = 75


@dataclass(frozen=True, slots=True)
class Job:
    """A kind of tool that each domain has."""

    verb: str
    does: str
    takes: str
    declared: str


LIMIT = 'limit: Annotated[int, Field(ge=1, le=100, description="Most results")] = 10'
DETAIL = 'detail: Literal["brief", "full"] = "brief"'
DATES = (
    'date_from: Annotated[str | None, Field(description="ISO 8601")] = None, date_to: Name = None'
)
JOBS = (
    Job(
        "search",
        "Search what was recorded, by keyword and meaning",
        f"query: Question, places: Places = None, {LIMIT}, {DATES}, cursor: Name = None",
        "READ_ONLY | CALLS_OUT, core=True",
    ),
    Job(
        "analyze",
        "Read a source in full: summary, key points, times",
        "url: Url | None = None, file_path: Name = None, instruction: Question = 'Summarise',"
        f" output_schema: Values = None, {DETAIL}",
        "READ_ONLY | CALLS_OUT, long=True",
    ),
    Job("fetch", "Fetch entries by their ids", f"ids: Ids, {DETAIL}", "READ_ONLY | IDEMPOTENT"),
    Job("list", "List what there is, newest first", f"{LIMIT}, cursor: Name = None", "READ_ONLY"),
    Job(
        "compare",
        "Compare entries with each other and say where they differ",
        f"ids: Ids, aspects: Places = None, {DETAIL}",
        "READ_ONLY | CALLS_OUT",
    ),
    Job(
        "export",
        "Write entries to a file in a format of your choice",
        'ids: Ids, format: Literal["md", "csv", "json", "bib"] = "md", file_path: Name = None',
        "WRITES_LOCAL",
    ),
    Job(
        "watch",
        "Look again at a source from time to time",
        'url: Url, every_h: Annotated[float, Field(gt=0, le=720, description="Hours")] = 24,'
        " label: Name = None, active: bool = True",
        "WRITES_LOCAL | CALLS_OUT",
    ),
    Job(
        "annotate",
        "Attach your own values to an entry",
        "entry_id: Id, values: Values = None, tags: Places = None",
        "WRITES_LOCAL | IDEMPOTENT",
    ),
    Job(
        "measure",
        "Count and measure entries, grouped",
        f'by: Literal["day", "week", "kind", "place"] = "week", {DATES}, places: Places = None',
        "READ_ONLY",
    ),
    Job("forget", "Forget entries for good", "ids: Ids, sure: bool = False", "DESTRUCTIVE"),
)
PROJECT = """[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "vr-plugin-{domain}"
version = "0.1.0"
description = "Generated, for measuring what many tools cost"
requires-python = ">=3.11"
dependencies = ["vr-kernel>=0.1,<0.2"]

[project.entry-points."vr.plugins"]
{domain} = "vr_plugin_{domain}.plugin"
"""
ARGUMENTS = '''"""Kinds of arguments that tools share."""

from typing import Annotated, Any

from pydantic import Field

Question = Annotated[str, Field(min_length=1, max_length=4000, description="In plain words")]
Url = Annotated[str, Field(max_length=2048, pattern=r"^https?://", description="Of the source")]
Name = Annotated[str | None, Field(max_length=200)]
Id = Annotated[str, Field(max_length=128, description="As search returns it")]
Ids = Annotated[list[Id], Field(min_length=1, max_length=50)]
Places = Annotated[list[str] | None, Field(max_length=20, description="None: all")]
Values = Annotated[dict[str, Any] | None, Field(description="By name, of your own choice")]
'''
MODELS = '''"""Results."""

from pydantic import BaseModel, Field


class Place(BaseModel):
    """A place within a source."""

    title: str
    url: str | None = None
    start_s: float | None = None
    end_s: float | None = None


class Entry(BaseModel):
    """An entry."""

    id: str
    title: str
    text: str = ""
    score: float | None = Field(None, ge=0)
    places: list[Place] = []
    values: dict[str, str] = {}
'''
RESULT = '''

class {result}(BaseModel):
    """The result of `{name}`."""

    entries: list[Entry] = []
    total: int = Field(0, ge=0, description="Of all pages")
    summary: str = ""
    cursor: str | None = None
'''
TOOL = '''"""`{name}`."""

from typing import Annotated, Literal

from pydantic import Field
from vr_kernel import CALLS_OUT, DESTRUCTIVE, IDEMPOTENT, READ_ONLY, WRITES_LOCAL, Call, tool

from vr_plugin_{domain}.arguments import Id, Ids, Name, Places, Question, Url, Values
from vr_plugin_{domain}.models import {result}


@tool(effects={declared}, words="{verb} my {domain}; {verb} it there")
async def {name}(call: Call, {takes}) -> {result}:
    """{does}."""
    return {result}(summary="{name}")
'''
PLUGIN = '''"""The plugin's hooks."""

from pydantic import BaseModel
from vr_kernel import hookimpl

{imports}


class Settings(BaseModel):
    """Settings of the plugin."""

    language: str = "en"
    concurrency: int = 4


@hookimpl
def vr_settings():
    """The settings."""
    return Settings


@hookimpl
def vr_tools():
    """The tools."""
    return [{names}]
'''


def tool_names() -> list[str]:
    """The names of all tools that are written, sorted."""
    return sorted(f"{domain}_{job.verb}" for domain, jobs in _shares().items() for job in jobs)


def write_plugins(folder: Path) -> list[Path]:
    """Write the eight projects into a folder; return their folders."""
    for domain, jobs in _shares().items():
        _write(folder / domain, _files(domain, jobs))
    return [folder / domain for domain in DOMAINS]


def _shares() -> dict[str, tuple[Job, ...]]:
    """The tools of each domain: nine of most, ten of the first."""
    least, more = divmod(TOOLS, len(DOMAINS))
    return {domain: JOBS[: least + (n < more)] for n, domain in enumerate(DOMAINS)}


def _files(domain: str, jobs: tuple[Job, ...]) -> Mapping[str, str]:
    package = f"src/vr_plugin_{domain}"
    files = {
        "pyproject.toml": PROJECT.format(domain=domain),
        f"{package}/__init__.py": "",
        f"{package}/arguments.py": ARGUMENTS,
        f"{package}/tools/__init__.py": "",
    }
    models, imports, names = MODELS, "", []
    for job in jobs:
        name = f"{domain}_{job.verb}"
        result = f"{domain.title()}{job.verb.title()}Result"
        said = {"domain": domain, "name": name, "result": result}
        words = {"verb": job.verb, "takes": job.takes, "does": job.does, "declared": job.declared}
        files[f"{package}/tools/{job.verb}.py"] = TOOL.format(**said, **words)
        models += RESULT.format(**said)
        imports += f"from vr_plugin_{domain}.tools.{job.verb} import {name}\n"
        names.append(name)
    files[f"{package}/models.py"] = models
    files[f"{package}/plugin.py"] = PLUGIN.format(imports=imports, names=", ".join(names))
    return files


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
