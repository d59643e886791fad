"""A kernel as a client meets it, with every installed plugin, beside a secret."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from abuse_bench import CANARY, Bench, Watch, make_outside
from tool_arguments import CLIP, environment
from vr_kernel import Kernel, load_config

CLIP_S = 4.0
CAPTIONS = """\
1
00:00:00,500 --> 00:00:01,500
Recall improved a lot.

2
00:00:02,000 --> 00:00:03,500
Ask not what your country can do for you.
"""


@pytest.fixture(scope="session")
def watch() -> Watch:
    return Watch()


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory, talk: Path) -> Path:
    """The first seconds of a real video."""
    import av

    path = tmp_path_factory.mktemp("clip") / CLIP
    with av.open(str(talk)) as source, av.open(str(path), "w") as target:
        picture = source.streams.video[0]
        copy = target.add_stream_from_template(picture)
        for packet in source.demux(picture):
            if packet.dts is None or float(packet.pts * packet.time_base) > CLIP_S:
                continue
            packet.stream = copy
            target.mux(packet)
    return path


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory, clip: Path) -> Iterator[Path]:
    """The folder that may be read, which is also where the process works."""
    if os.name == "nt":
        pytest.skip("needs links, pipes and devices")
    folder = tmp_path_factory.mktemp("abuse").resolve() / "root"
    folder.mkdir()
    (folder / CLIP).write_bytes(clip.read_bytes())
    (folder / CLIP).with_suffix(".srt").write_text(CAPTIONS, "utf-8")
    (folder / "words.txt").write_text("Nothing but words.", "utf-8")
    before = Path.cwd()
    os.chdir(folder)
    yield folder
    os.chdir(before)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bench(inside: Path, watch: Watch) -> AsyncIterator[Bench]:
    outside = inside.with_name(CANARY)
    make_outside(outside, inside)
    own = inside.with_name("own")
    config = load_config(environ=environment(own), working_folder=inside)
    async with Kernel.open(config, roots=[inside]) as kernel:
        yield Bench(kernel, inside, outside, watch)
