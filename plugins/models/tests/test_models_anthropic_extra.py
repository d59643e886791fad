"""Without the library for Anthropic, which is an extra, its models say how to install it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

BLOCKER = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "anthropic":
            raise ModuleNotFoundError(f"{name} is blocked", name=name)

sys.meta_path.insert(0, Blocker())
"""
PROGRAM = """
import asyncio, json
from vr_kernel import VrError
from vr_plugin_models import plugin
from vr_testing import FakeOpenAI, open_kernel

async def main():
    with FakeOpenAI() as service:
        service.answer("from the next one")
        settings = {
            "kernel.http.allowed_hosts": [service.url.split("/")[2]],
            "models.default": ["anthropic/claude-sonnet-5-5", "groq/own-model"],
            "plugins.models.anthropic_api_key": "any",
            "plugins.models.groq_api_key": "any",
            "plugins.models.groq_base_url": service.url,
        }
        async with open_kernel({"models": plugin}, settings=settings) as kernel:
            reply = await kernel.services.models.generate("Who?")
            try:
                await kernel.services.models.generate("Who?", model="anthropic/claude-sonnet-5-5")
            except VrError as error:
                told = [error.code, error.category, error.hint]
    print(json.dumps([reply.text, *told]))

asyncio.run(main())
"""


def test_without_its_library_anthropic_says_how_to_install_it_and_the_next_is_asked(
    tmp_path: Path,
) -> None:
    (tmp_path / "sitecustomize.py").write_text(BLOCKER, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [
        "from the next one",
        "UNAVAILABLE",
        "EXTRA_MISSING",
        'Install it: pip install "video-research[anthropic]"',
    ]
