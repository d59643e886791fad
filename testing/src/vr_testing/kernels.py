"""Kernels in folders of their own, with only the plugins they are given."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from vr_kernel import Kernel, load_config, require_extra

from vr_testing import memory
from vr_testing.recording import RecordedCall, record_call

if TYPE_CHECKING:
    from vr_kernel.state import State
    from vr_server import ToolClient

MEMORY = {"store.backend": memory.STORE, "store.embedder": memory.EMBEDDER}


class TrialKernel(Kernel):
    """A kernel for a test: a `Kernel` with two more methods to observe it from outside."""

    async def record(self, name: str, /, **arguments: Any) -> RecordedCall:
        """Call a tool and record what it does; an error is part of the returned record.

        Raises:
            VrError: NOT_FOUND for an unknown tool.
        """
        return await record_call(self, name, arguments)

    def connect(self) -> AbstractAsyncContextManager[ToolClient]:
        """A client of an MCP server of this kernel, joined to it in memory: `async with` it.

        Raises:
            VrError: UNAVAILABLE, category EXTRA_MISSING, without the extra `vr-testing[server]`.
        """
        server = require_extra(
            "vr_server",
            "A kernel is served to a client by vr-server, which is not installed.",
            "pip install 'vr-testing[server]'.",
        )
        client: AbstractAsyncContextManager[ToolClient] = server.connect_to(
            server.build_server(self)
        )
        return client


@asynccontextmanager
async def open_kernel(
    plugins: Mapping[str, object],
    *,
    settings: Mapping[str, object] | None = None,
    variables: Mapping[str, str] | None = None,
    folder: Path | None = None,
    roots: Sequence[Path] = (),
    state: State | None = None,
) -> AsyncIterator[TrialKernel]:
    """Open a kernel for an `async with` block, which reads no settings of this user or machine.

    It is strict: a faulty plugin raises, instead of being left out, and so does one whose lifespan
    cannot begin. Store and embedder are those of `vr_testing`, in memory, unless settings name
    others.

    Args:
        plugins: name -> plugin object or module; no others are loaded.
        settings: by section and key, as in `--set`: `{"plugins.weather.horizon": -6}`.
        variables: the environment, such as `{"GEMINI_API_KEY": "any"}`; no other is inherited.
        folder: for all its files; a temporary one when left out. A second kernel in the same folder
            finds what the first one recorded.
        roots: folders below which tools may read files, besides `folder`.
        state: keeps what outlives a call, such as a `MemoryState`; files when left out.

    Raises:
        VrError: INVALID_INPUT, category CONFIG_INVALID; CONFLICT, category PLUGIN_REFUSED.
    """
    given = {**MEMORY, **(settings or {})}
    flags = {name: _as_text(value) for name, value in given.items()}
    with _folder(folder) as home:
        environ = {**isolated_variables(home), **(variables or {})}
        config = await asyncio.to_thread(load_config, environ, flags, home)
        loaded = {"memory": memory, **plugins}
        kernel = TrialKernel(config, loaded, roots=[home, *roots], state=state)
        try:
            await kernel.begin()
            yield kernel
        finally:
            await kernel.aclose()


def isolated_variables(folder: Path) -> dict[str, str]:
    """The environment of a program that keeps everything below one folder, and is strict."""
    home = {"HOME": str(folder), "USERPROFILE": str(folder)}
    own = {f"VR_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "STATE", "CACHE")}
    return {**home, **own, "VR_STRICT": "1"}


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given is not None:
        yield given
        return
    with TemporaryDirectory() as made:
        yield Path(made)
