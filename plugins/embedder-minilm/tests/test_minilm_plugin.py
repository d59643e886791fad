"""The plugin is light to import, writes nothing to stdout, and serves through a kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from vr_embedder_minilm import plugin
from vr_kernel import Code, Embedder, Kernel, VrError, load_config

HEAVY = ("numpy", "onnxruntime", "tokenizers")
_EMBED = """
import asyncio
from vr_embedder_minilm.embedder import MiniLmEmbedder
asyncio.run(MiniLmEmbedder().embed(["hello"], "query"))
"""


def _python(code: str, environ: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env=environ,
    )
    return done.stdout


def test_importing_the_plugin_imports_no_heavy_library():
    code = (
        "import json, sys, vr_embedder_minilm.plugin as p; p.vr_providers();"
        f"print(json.dumps([m for m in {HEAVY} if m in sys.modules]))"
    )
    assert json.loads(_python(code)) == []


def test_embedding_writes_nothing_to_stdout_and_leaves_no_trace_for_telemetry(tmp_path):
    silenced_in = ("CI", "GITHUB_ACTIONS", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS")
    environ = {name: value for name, value in os.environ.items() if name not in silenced_in}
    homes = ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA")
    written = _python(_EMBED, {**environ, **dict.fromkeys(homes, str(tmp_path))})
    assert written == ""
    assert list(tmp_path.rglob("*onnxruntime*")) == []


def _config(tmp_path, **variables):
    folders = {f"VR_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "STATE", "CACHE")}
    return load_config({**folders, **variables})


async def test_a_kernel_serves_the_embedder(tmp_path):
    config = _config(tmp_path)
    async with Kernel.open(config, {"embedder-minilm": plugin}) as kernel:
        embedder = kernel.services.providers.get(Embedder, "minilm")
        (vector,) = await embedder.embed(["hello"], "query")
    assert len(vector) == embedder.dimension
    assert embedder.accepts == {"text"}
    assert embedder.id == "all-MiniLM-L6-v2-int8"


def test_settings_are_checked():
    model = plugin.vr_settings()
    assert model.model_validate({}).threads == 2
    with pytest.raises(ValueError, match="threads"):
        model.model_validate({"threads": 0})


async def test_an_unknown_embedder_is_named(tmp_path):
    async with Kernel.open(_config(tmp_path), {"embedder-minilm": plugin}) as kernel:
        with pytest.raises(VrError, match="other") as caught:
            kernel.services.providers.get(Embedder, "other")
    assert caught.value.code is Code.UNAVAILABLE
    assert "minilm" in caught.value.hint
