"""A process dies after a model answered for another: the answer is found, and not paid again."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from vr_testing import FakeOpenAI, Fault

import video_research

TALK = Path(video_research.__file__).with_name("talk.mp4")
SEEN = {
    "title": "Embeddings",
    "summary": "About vectors.",
    "key_points": ["Vectors are near."],
    "timestamps": [],
    "topics": ["search"],
    "sentiment": "neutral",
}
CHOSEN = """SELECT count(*) FROM step WHERE CAST(reply AS TEXT) LIKE '%"chosen"%'"""


def analysing(folder: Path, environ: Mapping[str, str]) -> subprocess.Popen[str]:
    """A process that analyses the talk."""
    command = [sys.executable, "-m", "vr_cli", "video", "analyze", "talk.mp4", "--json"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env={**environ}, stdout=pipe, text=True)


def generated(service: FakeOpenAI) -> int:
    """The answers that were asked for."""
    return sum(each.generates for each in service.requests)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_an_answer_in_place_of_another_outlives_its_process(tmp_path: Path) -> None:
    """Though the first model answers again by then; the process dies before it keeps a result."""
    shutil.copy(TALK, tmp_path)
    with FakeOpenAI() as first, FakeOpenAI() as second:
        first.fail(Fault.status(503), times=None)
        for service in (first, second):
            service.answer(SEEN)
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            **{f"VR_{name}_DIR": str(tmp_path / name.lower()) for name in ("STATE", "CACHE")},
            "VR_MODELS__VISION": "openai/gpt-4o,openai_compatible/own",
            "VR_MODELS__ATTEMPTS": "1",
            "VR_KERNEL__LEASE_S": "1",
            "VR_KERNEL__HTTP__ALLOWED_HOSTS": first.url.split("/")[2],
            "OPENAI_API_KEY": "key-of-the-user",
            "OPENAI_BASE_URL": first.url,
            "OPENAI_COMPATIBLE_BASE_URL": second.url,
            "OPENAI_COMPATIBLE_VISION_MODEL": "own",
            "VR_VIDEO__SPEECH_MODEL": "no-such-model",
        }
        with analysing(tmp_path, environ) as dying, ExitStack() as stack:
            with second.hold():
                second.wait(lambda: second.in_flight == 1, 120)
                results, jobs = (
                    stack.enter_context(closing(sqlite3.connect(tmp_path / place)))
                    for place in ("cache/results.db", "state/jobs.db")
                )
                results.execute("BEGIN IMMEDIATE")  # nobody else can keep a result now
            while not jobs.execute(CHOSEN).fetchone()[0]:
                pass
            dying.kill()
        first.heal()
        with analysing(tmp_path, environ) as going:
            found = json.loads(going.communicate()[0])
        assert (found["model"], found["title"]) == ("openai_compatible/own", "Embeddings")
        assert (generated(first), generated(second)) == (1, 1)
