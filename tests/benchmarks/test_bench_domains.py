"""The eight plugins that a start is measured with are served, and lead to the default view."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from vr_kernel import Kernel, load_config
from vr_server import build_server, choose_view
from vr_server.view import MOST_CORE_TOKENS, estimate_tokens

from benchmarks.domains import DOMAINS, TOOLS, tool_names, write_plugins
from benchmarks.tokens import token_counter, tokens_of


async def test_all_generated_tools_are_loaded_and_narrow_the_view(
    tmp_path: Path, fresh_environment: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for project in write_plugins(tmp_path / "projects"):
        monkeypatch.syspath_prepend(str(project / "src"))
    plugins = {name: import_module(f"vr_plugin_{name}.plugin") for name in DOMAINS}
    try:
        config = load_config(fresh_environment(), working_folder=tmp_path)
        async with Kernel.open(config, plugins, roots=[]) as kernel:
            assert len(tool_names()) == TOOLS
            assert {*tool_names()} <= {*kernel.tools}
            view = choose_view(kernel)
            assert view.is_narrowed
            assert not view.without_room
            assert {*view.shown} == {f"{name}_search" for name in DOMAINS}
            estimated = sum(map(estimate_tokens, view.shown.values()))
            async with Client(build_server(kernel)) as client:
                listed = [tool.model_dump(by_alias=True) for tool in await client.list_tools()]
                costs = {tool["name"]: tokens_of(tool, token_counter()) for tool in listed}
                assert sum(costs[name] for name in view.shown) <= estimated <= MOST_CORE_TOKENS
                found = await client.call_tool("tool_search", {"query": "watch my cinema"})
                assert found.structured_content["tools"][0]["name"] == "cinema_watch"
    finally:
        for module in [name for name in sys.modules if name.startswith("vr_plugin_")]:
            if module.split(".")[0].removeprefix("vr_plugin_") in DOMAINS:
                del sys.modules[module]
