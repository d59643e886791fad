"""The kernel's own settings, section by section, and what sections are made of."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
)

from vr_kernel.generation import Role, ThinkingLevel


@dataclass(frozen=True, slots=True)
class EnvAlias:
    """Names another variable that sets a field: `Annotated[int, EnvAlias("OLD_NAME")]`.

    With `means` the variable stands for that value, whatever it is set to.
    """

    name: str
    means: str | None = None


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
Preset = Literal["best", "stable", "budget"]


class Section(BaseModel):
    """A configuration section: immutable, and strict about unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class KernelSettings(Section):
    """`[kernel]`."""

    plugins: Annotated[Names, EnvAlias("VR_PLUGINS")] = ["*"]
    disabled: Names = []
    toolsets: Annotated[Names, Field(min_length=1), EnvAlias("VR_TOOLSETS")] = ["all"]
    tool_search: Annotated[bool, EnvAlias("VR_TOOL_SEARCH")] = False
    strict: Annotated[bool, EnvAlias("VR_STRICT")] = False
    import_deadline_s: float = Field(5.0, gt=0)
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        BeforeValidator(lambda v: v.lower() if isinstance(v, str) else v),
        EnvAlias("VR_LOG_LEVEL"),
    ] = "warning"
    log_format: Literal["console", "json"] = "console"
    allowed_roots: Annotated[
        Folders, EnvAlias("VR_ALLOWED_ROOTS"), EnvAlias("LOCAL_FILE_ACCESS_ROOT")
    ] = []
    cache_ttl_days: Annotated[float, Field(gt=0), EnvAlias("GEMINI_CACHE_TTL_DAYS")] = 30
    text_recognizer: str = ""
    lease_s: float = Field(20.0, ge=0.2, le=600)
    handle_after_s: float = Field(45.0, gt=0, le=86_400)
    heartbeat_s: float = Field(10.0, ge=0.1, le=60)
    resume_jobs: bool = True
    job_ttl_days: float = Field(7, gt=0)


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
    ] = []
    extra_ports: Annotated[list[Annotated[int, Field(ge=1, le=65_535)]], _split(",")] = []
    max_bytes: int = Field(33_554_432, ge=1)
    deadline_s: float = Field(60.0, gt=0, le=86_400)
    max_redirects: int = Field(5, ge=0, le=20)
    user_agent: str = Field(
        "Mozilla/5.0 (compatible; video-research)", pattern=r"^[!-~]([ -~]{0,198}[!-~])?$"
    )


class ModelsSettings(Section):
    """`[models]`: keys, roles, and how hard to try. Times in seconds."""

    gemini_api_keys: Annotated[
        Keys, EnvAlias("GEMINI_API_KEYS"), EnvAlias("GEMINI_API_KEY"), EnvAlias("GOOGLE_API_KEY")
    ] = []
    gemini_base_url: Annotated[str, EnvAlias("GOOGLE_GEMINI_BASE_URL")] = ""
    gemini_api_version: str = Field("v1beta", pattern=r"^v[0-9][a-z0-9]*$")
    gemini_model: Annotated[str, EnvAlias("GEMINI_MODEL")] = ""
    gemini_flash_model: Annotated[str, EnvAlias("GEMINI_FLASH_MODEL")] = ""
    preset: Preset = "best"
    thinking_level: Annotated[ThinkingLevel, EnvAlias("GEMINI_THINKING_LEVEL")] = "high"
    temperature: Annotated[float, Field(ge=0, le=2), EnvAlias("GEMINI_TEMPERATURE")] = 1.0
    default: Names = []
    fast: Names = []
    deep: Names = []
    vision: Names = []
    embedding: Names = []
    judge: Names = []
    recursive: Names = []
    attempts: Annotated[int, Field(ge=1, le=10), EnvAlias("GEMINI_RETRY_MAX_ATTEMPTS")] = 3
    retry_base_delay_s: Annotated[
        float, Field(gt=0, le=60), EnvAlias("GEMINI_RETRY_BASE_DELAY")
    ] = 1.0
    retry_max_delay_s: Annotated[float, Field(gt=0, le=600), EnvAlias("GEMINI_RETRY_MAX_DELAY")] = (
        60.0
    )
    deadline_s: float = Field(600, gt=0, le=86_400)
    upload_deadline_s: float = Field(600, gt=0, le=86_400)
    concurrency: int = Field(32, ge=1, le=1000)
    context_cache_ttl_s: float = Field(3600, ge=60, le=604_800)
    clear_context_caches: Annotated[bool, EnvAlias("CLEAR_CACHE_ON_SHUTDOWN")] = False

    def models_of(self, role: Role) -> list[str]:
        """The models chosen for a role, as `provider/model`, best first; empty for none."""
        chosen: list[str] = getattr(self, role)
        return chosen or ([] if role == "embedding" else self.default)


class ServeSettings(Section):
    """`[kernel.serve]`: the MCP server over HTTP."""

    tokens: Annotated[Keys, EnvAlias("VR_HTTP_TOKENS"), EnvAlias("VR_HTTP_TOKEN")] = []
    path: str = Field("/mcp", pattern=r"^/[A-Za-z0-9/_-]{1,100}$")
    allowed_hosts: Names = []
    allowed_origins: Names = []
    stateless: bool = False
    max_body_bytes: int = Field(4_000_000, ge=10_000, le=100_000_000)
    drain_s: float = Field(5.0, ge=0, le=600)


class StoreSettings(Section):
    """`[store]`."""

    backend: Annotated[str, EnvAlias("WEAVIATE_URL", means="weaviate")] = "embedded"
    workspace: str = Field("default", pattern=r"^[A-Za-z0-9_-]{1,64}$")
    embedder: str = "minilm"
