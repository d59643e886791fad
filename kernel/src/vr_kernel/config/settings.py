"""The kernel's own settings, section by section, and what sections are made of."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
)


@dataclass(frozen=True, slots=True)
class EnvAlias:
    """Names another variable that sets a field: `Annotated[int, EnvAlias("OLD_NAME")]`.

    With `means` the variable stands for that value, whatever it is set to. With `sets` it sets that
    key of another section, such as `store.backend`, once the plugin is loaded.
    """

    name: str
    means: str | None = None
    sets: str = ""


def _split(separator: str) -> BeforeValidator:
    return BeforeValidator(
        lambda value: (
            [part.strip() for part in value.split(separator) if part.strip()]
            if isinstance(value, str)
            else value
        )
    )


def _at_home(folder: Path) -> Path:
    try:
        return folder.expanduser()
    except RuntimeError:
        raise ValueError(f"{folder} names no home folder") from None


Names = Annotated[list[str], _split(",")]
Folders = Annotated[list[Annotated[Path, AfterValidator(_at_home)]], _split(os.pathsep)]


Keys = Annotated[list[SecretStr], _split(",")]


@dataclass(frozen=True, slots=True)
class Groups:
    """The things for each of which a section has the same settings.

    Args:
        kind: of them, such as `provider`.
        names: each begins the names of its settings: `openai` those of `openai_model`.
    """

    kind: str
    names: tuple[str, ...]

    def shared(self, section: type[BaseModel]) -> dict[str, str]:
        """The settings that all of them have, each with its name behind the group's."""
        fields = section.model_fields
        first = f"{self.names[0]}_"
        found = [key.removeprefix(first) for key in fields if key.startswith(first)]
        shared = [it for it in found if all(f"{name}_{it}" in fields for name in self.names)]
        return {f"{name}_{it}": it for name in self.names for it in shared}


class Section(BaseModel):
    """A configuration section: immutable, and strict about unknown keys.

    Attributes:
        gone: settings of former versions, each with a sentence; they are accepted without effect.
        groups: things for each of which it has the same settings; they are shown once.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    gone: ClassVar[Mapping[str, str]] = {}
    groups: ClassVar[Groups | None] = None


class KernelSettings(Section):
    """`[kernel]`."""

    plugins: Annotated[Names, EnvAlias("VR_PLUGINS")] = Field(
        ["*"], description="Names of the plugins to load, * for all."
    )
    disabled: Names = Field([], description="Names of plugins that are not loaded.")
    toolsets: Annotated[Names, EnvAlias("VR_TOOLSETS")] = Field(
        [],
        description="Tools that clients are shown: all, core, compat, or names of plugins. Empty:"
        " all up to 40; of more the core tools, and the others by search.",
    )
    tool_search: Annotated[bool | None, EnvAlias("VR_TOOL_SEARCH")] = Field(
        None, description="Whether clients find all other tools by search; unset: as above."
    )
    strict: Annotated[bool, EnvAlias("VR_STRICT")] = Field(
        False, description="Raise the fault of a plugin instead of leaving it out."
    )
    import_deadline_s: float = Field(
        5.0, gt=0, description="How long a plugin may take to be imported."
    )
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        BeforeValidator(lambda v: v.lower() if isinstance(v, str) else v),
        EnvAlias("VR_LOG_LEVEL"),
    ] = Field("warning", description="What is logged, to stderr.")
    log_format: Literal["console", "json"] = Field(
        "console", description="Lines for people, or JSON."
    )
    allowed_roots: Annotated[
        Folders, EnvAlias("VR_ALLOWED_ROOTS"), EnvAlias("LOCAL_FILE_ACCESS_ROOT")
    ] = Field([], description="Folders below which tools may read files.")
    cache_ttl_days: Annotated[float, Field(gt=0), EnvAlias("GEMINI_CACHE_TTL_DAYS")] = Field(
        30, description="How long a result is kept."
    )
    artifacts_mb: float = Field(
        10_000,
        ge=0,
        description="How many MB of artifacts a workspace keeps while a server runs: the oldest go"
        " first, but none that a record cites; 0: all.",
    )
    text_recognizer: str = Field(
        "", description="Which one reads pictures; empty: the first that is installed."
    )
    lease_s: float = Field(
        20.0, ge=0.2, le=600, description="How long a silent process keeps a job."
    )
    handle_after_s: float = Field(
        45.0,
        gt=0,
        le=86_400,
        description="When a client gets a job's handle instead of waiting on.",
    )
    heartbeat_s: float = Field(
        10.0, ge=0.1, le=60, description="How often long work reports that it is still running."
    )
    resume_jobs: bool = Field(True, description="Resume jobs that another process left behind.")
    job_ttl_days: float = Field(7, gt=0, description="How long an ended job is remembered.")


class HttpSettings(Section):
    """`[kernel.http]`: what may be fetched from the web, and how much of it.

    `allowed_hosts` are local hosts, each as a name, or as a name and a port, which is then
    allowed too: `intranet.example`, `localhost:8080`, `[::1]:8080`. A byte bound holds for what
    arrives and for what it unpacks to.
    """

    allowed_hosts: Annotated[
        list[
            Annotated[
                str,
                BeforeValidator(lambda v: v.lower() if isinstance(v, str) else v),
                Field(pattern=r"^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?$"),
            ]
        ],
        _split(","),
    ] = Field([], description="Local hosts that may be asked, such as localhost:8080.")
    extra_ports: Annotated[list[Annotated[int, Field(ge=1, le=65_535)]], _split(",")] = Field(
        [], description="Ports of public hosts that may be used, in addition to 80 and 443."
    )
    max_bytes: int = Field(
        33_554_432, ge=1, description="Largest page, as it arrives and unpacked."
    )
    deadline_s: float = Field(
        60.0, gt=0, le=86_400, description="For a whole page, redirects included."
    )
    gone: ClassVar[Mapping[str, str]] = {
        "max_redirects": "Up to five redirects are followed.",
        "user_agent": "Pages are requested under the program's own name.",
    }


class ServeSettings(Section):
    """`[kernel.serve]`: the MCP server over HTTP."""

    gone: ClassVar[Mapping[str, str]] = {"path": "The server is at /mcp."}
    tokens: Annotated[Keys, EnvAlias("VR_HTTP_TOKENS"), EnvAlias("VR_HTTP_TOKEN")] = Field(
        [], description="Secrets of those who may ask, as name:secret or the secret alone."
    )
    shared_workspaces: Names = Field(
        [], description="Workspaces that several tokens may have, by name."
    )
    workspaces: dict[str, str] = Field(
        {}, description="Token names, each with the shared workspace it has instead of its own."
    )
    roots: dict[str, Folders] = Field(
        {}, description="Token names, each with folders below which it may read files."
    )
    allowed_hosts: Names = Field(
        [], description="Host names under which it may be reached, in addition to its own."
    )
    allowed_origins: Names = Field([], description="Pages in browsers that may ask it.")
    stateless: bool = Field(
        False,
        description="Keep no sessions: any of several servers on one state folder can answer.",
    )
    max_body_bytes: int = Field(
        4_000_000, ge=10_000, le=100_000_000, description="Largest request."
    )
    max_connections: int = Field(
        2_000, ge=16, le=100_000, description="Most connections; fewer where files are limited."
    )
    max_sessions: int = Field(
        500, ge=1, le=10_000, description="Most sessions of one token; the longest idle one ends."
    )
    session_idle_s: float = Field(
        1_800.0, ge=0.1, le=86_400, description="How long an unused session is kept."
    )
    drain_s: float = Field(
        5.0, ge=0, le=600, description="How long running calls may finish after a stop."
    )


class StoreSettings(Section):
    """`[store]`."""

    backend: str = Field(
        "embedded", description="Where records are found again: embedded, weaviate, or a plugin's."
    )
    workspace: str = Field(
        "default",
        pattern=r"^[A-Za-z0-9_-]{1,64}$",
        description="Whose records are seen; each workspace has its own.",
    )
    embedder: str = Field(
        "minilm",
        description="What turns text into vectors: minilm, model (the first model of the role"
        " embedding), or a plugin's.",
    )
