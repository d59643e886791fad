"""The size to which a server keeps artifacts, and those that it keeps whatever their size."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from vr_kernel import (
    WRITES_LOCAL,
    Call,
    Kernel,
    Record,
    RecordField,
    RecordKind,
    VrError,
    cache_key,
    hookimpl,
    tool,
)
from vr_kernel.running.artifact_limit import ArtifactLimit
from vr_kernel.state import State
from vr_kernel.state.sqlite.state import SqliteState
from vr_testing import MemoryState, open_kernel
from waiting import until

SIZE = 1000
DAY_S = 86_400
BOOKS = RecordKind("Books", "Books.", (RecordField("cover"),), rerank="cover", pins="cover")


class Drawn(BaseModel):
    """The name of a picture."""

    uri: str
    cached: bool = False


@tool(effects=WRITES_LOCAL)
async def book_draw(call: Call, what: str, cited: bool = False) -> Drawn:
    """Draw a picture of 1000 bytes, once; record it as a cover if it is cited."""

    async def produce(work: Call) -> Drawn:
        made = work.artifact(what.encode().ljust(SIZE), "image/png")
        if cited:
            work.record(Record("Books", {"cover": made.uri}, key=what))
        return Drawn(uri=made.uri)

    return await call.once(cache_key(tool="book_draw", what=what), Drawn, produce)


@tool(effects=WRITES_LOCAL)
async def book_forget(call: Call, what: str) -> Drawn:
    """Forget a book."""
    call.forget("Books", what)
    return Drawn(uri="")


class Shop:
    """A plugin that draws covers."""

    @hookimpl
    def vr_tools(self) -> list[Any]:
        """Its tools."""
        return [book_draw, book_forget]

    @hookimpl
    def vr_record_kinds(self) -> list[RecordKind]:
        """Its kind."""
        return [BOOKS]


Draw = Callable[..., Any]


def drawing(kernel: Kernel) -> Draw:
    """Return a function that draws a picture which is some days old, and returns its file."""

    async def draw(what: str, days: float, *, cited: bool = False, by: str | None = None) -> Path:
        done = await kernel.run("book_draw", {"what": what, "cited": cited}, principal=by)
        paths = kernel.config.paths.of_workspace(by) if by else kernel.config.paths
        file = paths.artifacts / done.data["uri"].rpartition("/")[2]
        at = time.time() - days * DAY_S
        os.utime(file, (at, at))
        return file

    return draw


@contextmanager
def limited(kernel: Kernel, most: float, state: State | None = None) -> Iterator[ArtifactLimit]:
    """The limit of so many pictures, as another server keeps it."""
    paths = kernel.config.paths
    with closing(SqliteState(paths, lease_s=60)) as files:
        yield ArtifactLimit(paths, "default", state or files, most * SIZE / 1e6, kernel.log)


async def test_a_server_removes_the_oldest_that_nothing_cites(tmp_path: Path) -> None:
    most = {"kernel.artifacts_mb": 4 * SIZE / 1e6}
    async with open_kernel({"shop": Shop()}, folder=tmp_path, settings=most) as kernel:
        draw = drawing(kernel)
        kept = [await draw("cited", 9, cited=True), await draw("cited, too", 8, cited=True)]
        gone = [await draw("oldest", 7), await draw("old", 6)]
        kept += [await draw("less old", 5), await draw("new", 0)]
        annas = [await draw(str(number), number, by="anna") for number in range(2, 7)]
        async with kernel.serving():
            await until(lambda: not any(path.exists() for path in (*gone, annas[-1])))
        assert all(path.exists() for path in (*kept, *annas[:-1]))
        answers = {}
        for what in ("oldest", "less old"):
            answers[what] = (await kernel.call("book_draw", what=what)).cached
        assert answers == {"oldest": False, "less old": True}
        assert gone[0].exists()


@pytest.mark.parametrize("state", [None, MemoryState(60, time.time)], ids=["files", "memory"])
async def test_what_was_forgotten_is_removed_and_its_result_with_it(state: State | None) -> None:
    async with open_kernel({"shop": Shop()}, state=state) as kernel:
        with limited(kernel, 1, state) as limit:
            await _forgotten(kernel, limit)


async def _forgotten(kernel: Kernel, limit: ArtifactLimit) -> None:
    draw = drawing(kernel)
    (first, second) = [await draw(what, 2, cited=True) for what in ("a", "b")]
    await limit.keep()
    assert (first.exists(), second.exists()) == (True, True)
    await kernel.call("book_forget", what="b")
    await limit.keep()
    assert (first.exists(), second.exists()) == (True, False)
    assert not (await kernel.call("book_draw", what="b")).cached


async def test_without_the_plugin_its_records_keep_their_files(tmp_path: Path) -> None:
    async with open_kernel({"shop": Shop()}, folder=tmp_path) as kernel:
        file = await drawing(kernel)("a", 2, cited=True)
    async with open_kernel({}, folder=tmp_path) as kernel:
        with limited(kernel, 0.5) as limit:
            await limit.keep()
        assert file.exists()


async def test_young_files_stay_whatever_their_size() -> None:
    """Also one that was made long ago, and again just now."""
    async with open_kernel({"shop": Shop()}) as kernel:
        draw = drawing(kernel)
        files = [await draw("a", 0.5 / 24), await draw("b", 2)]
        kernel.services.artifacts.add(b"b".ljust(SIZE), "image/png")
        with limited(kernel, 0.5) as limit:
            await limit.keep()
        assert all(file.exists() for file in files)


async def test_two_servers_remove_no_more_than_one() -> None:
    async with open_kernel({"shop": Shop()}) as kernel:
        draw = drawing(kernel)
        files = [await draw(str(number), number) for number in range(2, 12)]
        with limited(kernel, 6) as one, limited(kernel, 6) as other:
            await asyncio.gather(one.keep(), other.keep())
        assert sum(file.exists() for file in files) == 6


@pytest.mark.parametrize("most", [0.5, 9])
async def test_a_journal_that_was_lost_keeps_everything(
    most: float, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It may come back; it is told where files would go."""
    async with open_kernel({"shop": Shop()}, folder=tmp_path) as kernel:
        file = await drawing(kernel)("a", 2, cited=True)
    kernel.config.paths.journal.unlink()
    async with open_kernel({"shop": Shop()}, folder=tmp_path) as kernel:
        with limited(kernel, most) as limit:
            await limit.keep()
        assert file.exists()
    told = "artifacts are not limited" in capfd.readouterr().err
    assert told is (most < 1)


async def test_it_is_told_once_when_records_need_more_than_the_limit(
    capfd: pytest.CaptureFixture[str],
) -> None:
    async with open_kernel({"shop": Shop()}) as kernel:
        await drawing(kernel)("a", 2, cited=True)
        with limited(kernel, 0.5) as limit:
            for _ in range(2):
                await limit.keep()
    assert capfd.readouterr().err.count("artifacts take more room than artifacts_mb") == 1


@pytest.mark.parametrize(("field", "kind"), [("none", "text"), ("cover", "int")])
def test_a_kind_pins_by_a_text_that_it_has(field: str, kind: Any) -> None:
    fields = (RecordField("text"), RecordField("cover", kind))
    with pytest.raises(TypeError, match=f"Books .*{field}"):
        RecordKind("Books", "Books.", fields, rerank="text", pins=field).check()


async def test_a_limit_below_zero_is_refused() -> None:
    with pytest.raises(VrError, match="artifacts_mb"):
        async with open_kernel({}, settings={"kernel.artifacts_mb": -1}):
            pass
