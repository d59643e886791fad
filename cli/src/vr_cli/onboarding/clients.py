"""Table of MCP clients: where each keeps its servers, in which format, what an entry holds.

Read in November 2026, in each client's own documentation unless said otherwise:

- Claude Code: code.claude.com/docs/en/mcp; that `CLAUDE_CONFIG_DIR` moves the file is from its
  maintainers' and users' reports (anthropics/claude-code, 4193 and 48448). It waits for a tool
  for a day by default, so nothing is set.
- Claude Desktop: modelcontextprotocol.io/docs/develop/connect-local-servers. The path on Linux
  is that of the builds for it; newer builds of the Microsoft Store keep the file elsewhere.
- Cursor: cursor.com/docs/mcp. It names no time-out of a single server.
- VS Code: code.visualstudio.com/docs/agents/reference/mcp-configuration, for the default profile.
- Gemini CLI: docs/tools/mcp-server.md of google-gemini/gemini-cli. Its time-out is in
  milliseconds, 600,000 by default.
- Windsurf: docs.windsurf.com/windsurf/cascade/mcp. It names no file of a project.
- Codex: docs/config.md of openai/codex. `startup_timeout_sec` and `tool_timeout_sec` are in
  seconds, 10 and 60 by default. A project's file counts in trusted projects only.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Literal

from vr_kernel import Code, VrError, did_you_mean

SERVER = "video-research"
"""The name of our entry in every client."""
CALL_TIMEOUT_S = 600
"""Longest call, the default deadline of a model; a client's own may be a tenth of it."""
START_TIMEOUT_S = 60
"""Longest start: the first one with uvx downloads packages."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine, which decides the places of files; `system` is a value of `sys.platform`."""

    system: str
    home: PurePath
    environ: Mapping[str, str] = field(default_factory=dict)

    def folder(self, variable: str, default: PurePath) -> PurePath:
        """The folder that a variable names, if it is set."""
        given = self.environ.get(variable)
        return type(self.home)(given) if given else default

    @property
    def programs(self) -> PurePath:
        """The settings folder of desktop programs: Electron's `appData`."""
        if self.system == "win32":
            return self.folder("APPDATA", self.home / "AppData" / "Roaming")
        if self.system == "darwin":
            return self.home / "Library" / "Application Support"
        return self.folder("XDG_CONFIG_HOME", self.home / ".config")


@dataclass(frozen=True, slots=True)
class Client:
    """A client: `file` is its configuration file, `traces` a folder that shows it is installed.

    `fixed` is what its entries hold besides command, arguments and variables; `defaults` what they
    get unless the user set it. `project` is the file's path in a project, if it has one.
    """

    name: str
    title: str
    format: Literal["json", "jsonc", "toml"]
    servers: str
    file: Callable[[Machine], PurePath]
    traces: Callable[[Machine], PurePath]
    project: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def place(self, machine: Machine, project: Path | None) -> Path:
        """The file to write: of the user, or of a project.

        Raises:
            VrError: UNSUPPORTED when the client has no file of a project.
        """
        if project is None:
            return Path(self.file(machine))
        if not self.project:
            raise VrError(
                f"{self.title} has no file of a project.",
                Code.UNSUPPORTED,
                hint="Leave out --project.",
            )
        return project / self.project

    def is_installed(self, machine: Machine) -> bool:
        """True when the client left traces in the user's folders."""
        return any(os.path.exists(it(machine)) for it in (self.file, self.traces))  # noqa: PTH110 - a folder that may not be entered is no error


def _claude_code(machine: Machine) -> PurePath:
    return machine.folder("CLAUDE_CONFIG_DIR", machine.home) / ".claude.json"


def _codex(machine: Machine) -> PurePath:
    return machine.folder("CODEX_HOME", machine.home / ".codex")


STDIO = {"type": "stdio"}
CLIENTS = (
    Client(
        "claude-code",
        "Claude Code",
        "json",
        "mcpServers",
        _claude_code,
        lambda machine: machine.home / ".claude",
        project=".mcp.json",
        fixed=STDIO,
    ),
    Client(
        "claude-desktop",
        "Claude Desktop",
        "json",
        "mcpServers",
        lambda machine: machine.programs / "Claude" / "claude_desktop_config.json",
        lambda machine: machine.programs / "Claude",
    ),
    Client(
        "cursor",
        "Cursor",
        "jsonc",
        "mcpServers",
        lambda machine: machine.home / ".cursor" / "mcp.json",
        lambda machine: machine.home / ".cursor",
        project=".cursor/mcp.json",
        fixed=STDIO,
    ),
    Client(
        "vscode",
        "VS Code",
        "jsonc",
        "servers",
        lambda machine: machine.programs / "Code" / "User" / "mcp.json",
        lambda machine: machine.programs / "Code" / "User",
        project=".vscode/mcp.json",
        fixed=STDIO,
    ),
    Client(
        "gemini-cli",
        "Gemini CLI",
        "jsonc",
        "mcpServers",
        lambda machine: machine.home / ".gemini" / "settings.json",
        lambda machine: machine.home / ".gemini",
        project=".gemini/settings.json",
        defaults={"timeout": CALL_TIMEOUT_S * 1000},
    ),
    Client(
        "windsurf",
        "Windsurf",
        "json",
        "mcpServers",
        lambda machine: machine.home / ".codeium" / "windsurf" / "mcp_config.json",
        lambda machine: machine.home / ".codeium" / "windsurf",
    ),
    Client(
        "codex",
        "Codex",
        "toml",
        "mcp_servers",
        lambda machine: _codex(machine) / "config.toml",
        _codex,
        project=".codex/config.toml",
        defaults={"startup_timeout_sec": START_TIMEOUT_S, "tool_timeout_sec": CALL_TIMEOUT_S},
    ),
)
NAMES = tuple(client.name for client in CLIENTS)
ALL = "all"


def installed_clients(machine: Machine) -> list[Client]:
    """The clients that left traces on this machine."""
    return [client for client in CLIENTS if client.is_installed(machine)]


def choose_clients(names: Sequence[str], machine: Machine, *, project: bool) -> list[Client]:
    """The clients of these names; `all` means the installed ones.

    Raises:
        VrError: INVALID_INPUT for an unknown name, NOT_FOUND when `all` finds none.
    """
    for name in names:
        if name not in (*NAMES, ALL):
            raise VrError(
                f"There is no client {name!r}.",
                Code.INVALID_INPUT,
                hint=f"{did_you_mean(name, (*NAMES, ALL))}Clients: {', '.join(NAMES)}, or {ALL}.",
            )
    found = installed_clients(machine) if ALL in names else []
    found = [client for client in found if client.project or not project]
    if ALL in names and not found:
        raise VrError(
            "No client was found on this machine.",
            Code.NOT_FOUND,
            hint=f"Name one: --client with {', '.join(NAMES)}.",
        )
    return [client for client in CLIENTS if client in found or client.name in names]
