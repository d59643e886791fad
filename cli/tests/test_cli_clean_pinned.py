"""`vr clean` keeps what records need until they are forgotten, also without their plugin."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from command_fork import FreshVr
from command_host import Ended
from plugin_zoo import Zoo
from pydantic import BaseModel
from vr_kernel import (
    WRITES_LOCAL,
    Call,
    Code,
    Record,
    RecordField,
    RecordKind,
    VrError,
    hookimpl,
    tool,
)
from vr_kernel.cleanup import find_removable
from vr_kernel.config.paths import Paths
from vr_testing import open_kernel

PAPERS = RecordKind(
    "Papers",
    "Papers.",
    (RecordField("title"), RecordField("files", "text[]")),
    rerank="title",
    pins="files",
)
KEPT = "1 file is kept: records cite it; forget the records to free it."


class Made(BaseModel):
    """The addresses of files."""

    uris: list[str]


@tool(effects=WRITES_LOCAL)
async def paper_write(call: Call, title: str, pictures: list[str]) -> Made:
    """Write a paper with pictures."""
    uris = [call.artifact(each.encode(), "image/png").uri for each in pictures]
    call.record(Record("Papers", {"title": title, "files": uris}, key=title))
    return Made(uris=uris)


@tool(effects=WRITES_LOCAL)
async def paper_forget(call: Call, title: str) -> Made:
    """Forget a paper."""
    call.forget("Papers", title)
    return Made(uris=[])


@tool(effects=WRITES_LOCAL)
async def picture_make(call: Call, picture: str) -> Made:
    """Make a picture that nothing cites."""
    return Made(uris=[call.artifact(picture.encode(), "image/png").uri])


class Press:
    """A plugin that writes papers."""

    @hookimpl
    def vr_tools(self) -> list[Any]:
        """Its tools."""
        return [paper_write, paper_forget, picture_make]

    @hookimpl
    def vr_record_kinds(self) -> list[RecordKind]:
        """Its kind."""
        return [PAPERS]


class Papers:
    """Writes papers, each time in a new kernel, and cleans up without their plugin."""

    def __init__(self, folder: Path) -> None:
        self.zoo = Zoo(folder)
        self.paths = Paths(*(self.zoo.folder / each for each in ("config", "state", "cache")))
        self.host = FreshVr(self.zoo.environment(), self.zoo.work)

    async def do(self, name: str, /, principal: str | None = None, **arguments: Any) -> list[Path]:
        """Call a tool; returns the files that it made."""
        async with open_kernel({"press": Press()}, folder=self.zoo.folder) as kernel:
            done = await kernel.run(name, arguments, principal=principal)
            assert done.error is None, done.error
        paths = self.paths.of_workspace(principal) if principal else self.paths
        return [paths.artifacts / uri.rpartition("/")[2] for uri in done.data["uris"]]

    def clean(self, *options: str) -> Ended:
        """Run `vr clean --artifacts`."""
        return self.host.run("clean", "--artifacts", "--yes", *options)

    def change(self, statement: str) -> None:
        """Change the journal by hand."""
        with closing(sqlite3.connect(self.paths.journal, isolation_level=None)) as connection:
            connection.execute(statement)


@pytest.fixture
def papers(tmp_path: Path) -> Papers:
    """No papers yet."""
    return Papers(tmp_path / "zoo")


async def test_a_cited_file_stays_until_its_record_is_forgotten(papers: Papers) -> None:
    (cited,) = await papers.do("paper_write", title="a", pictures=["an owl"])
    (free,) = await papers.do("picture_make", picture="a pump")
    ended = papers.clean("--json")
    (item,) = ended.data["items"]
    assert (ended.code, item["count"], item["kept"], item["removed"]) == (0, 1, 1, True)
    assert (cited.exists(), free.exists()) == (True, False)
    ended = papers.clean()
    assert (ended.code, KEPT in ended.stdout) == (0, True)
    await papers.do("paper_forget", title="a")
    assert KEPT not in papers.clean().stdout
    assert not cited.exists()


async def test_a_file_of_two_records_stays_until_both_are_gone(papers: Papers) -> None:
    (cited,) = await papers.do("paper_write", title="a", pictures=["an owl"])
    await papers.do("paper_write", title="b", pictures=["an owl"])
    await papers.do("paper_forget", title="a")
    papers.clean()
    assert cited.exists()
    await papers.do("paper_forget", title="b")
    papers.clean()
    assert not cited.exists()


async def test_a_record_that_is_replaced_needs_what_it_names_now(papers: Papers) -> None:
    before = await papers.do("paper_write", title="a", pictures=["an owl", "a pump"])
    after = await papers.do("paper_write", title="a", pictures=["an owl", "a lid"])
    assert "2 files are kept: records cite them;" in papers.clean().stdout
    assert [path.exists() for path in (*before, *after)] == [True, False, True, True]


async def test_each_workspace_keeps_its_own(papers: Papers) -> None:
    (owners,) = await papers.do("paper_write", title="a", pictures=["an owl"])
    (annas,) = await papers.do("paper_write", "anna", title="a", pictures=["an owl"])
    await papers.do("paper_forget", title="a")
    papers.clean()
    assert (owners.exists(), annas.exists()) == (False, True)
    (owners,) = await papers.do("paper_write", title="a", pictures=["an owl"])
    await papers.do("paper_forget", "anna", title="a")
    papers.clean()
    assert (owners.exists(), annas.exists()) == (True, False)


async def test_a_workspace_that_was_the_owners_keeps_its_own(papers: Papers) -> None:
    """Its files are in the owner's folder, whichever workspace the owner has now."""
    (cited,) = await papers.do("paper_write", title="a", pictures=["an owl"])
    papers.host.environment["VR_STORE__WORKSPACE"] = "another"
    papers.clean()
    assert cited.exists()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE record SET fields = substr(fields, 2)",
        "UPDATE record SET fields = CAST(x'ff' || fields AS TEXT)",
        "UPDATE record SET kind = CAST(x'ff' || kind AS TEXT)",
        "UPDATE record SET workspace = CAST(x'ff' || workspace AS TEXT)",
        "UPDATE pinning SET kind = CAST(x'ff' AS TEXT)",
        "UPDATE pinning SET field = CAST(x'ff' AS TEXT)",
    ],
)
async def test_a_damaged_row_keeps_what_it_names(damage: str, papers: Papers) -> None:
    cited = await papers.do("paper_write", title="a", pictures=["an owl"])
    cited += await papers.do("paper_write", "anna", title="a", pictures=["an owl"])
    papers.change(damage)
    assert papers.clean().code == 0
    assert all(path.exists() for path in cited)


@pytest.mark.parametrize("fate", ["damaged", "deleted", "emptied"])
async def test_nothing_goes_while_the_journal_cannot_be_read(fate: str, papers: Papers) -> None:
    (free,) = await papers.do("picture_make", picture="a pump")
    await papers.do("paper_write", title="a", pictures=["an owl"])
    for suffix in ("-wal", "-shm"):
        papers.paths.journal.with_name(f"journal.db{suffix}").unlink(missing_ok=True)
    if fate == "deleted":
        papers.paths.journal.unlink()
    else:
        papers.paths.journal.write_bytes(b"no database at all" * 1000 * (fate == "damaged"))
    ended = papers.clean("--json")
    (item,) = ended.data["items"]
    assert (ended.code, item["count"], item["removed"]) == (1, 0, False)
    assert "journal.db" in item["error"]
    assert item["error"] in ended.stderr
    assert free.exists()


async def test_a_journal_of_an_earlier_version_pins_from_the_next_record_on(
    papers: Papers,
) -> None:
    """Those of records that were there before, too."""
    (before,) = await papers.do("paper_write", title="a", pictures=["an owl"])
    papers.change("DROP TABLE pinning")
    shown = papers.host.run("clean", "--artifacts", "--dry-run", "--json")
    assert [(it["count"], it["kept"]) for it in shown.data["items"]] == [(1, 0)]
    (after,) = await papers.do("paper_write", title="b", pictures=["a pump"])
    assert papers.clean().code == 0
    assert before.exists()
    assert after.exists()


@pytest.mark.parametrize("seen", [True, False])
async def test_a_record_that_is_committed_meanwhile_keeps_its_files(
    seen: bool, papers: Papers
) -> None:
    """It is seen, or comes after that: then the file counts as new, though it was there before."""
    (file,) = await papers.do("picture_make", picture="an owl")
    (other,) = await papers.do("picture_make", picture="a pump")
    found = await asyncio.to_thread(find_removable, papers.paths, "artifacts", time.time())
    assert found.count == len((file, other))
    await papers.do("paper_write", title="a", pictures=["an owl"])
    if seen:
        os.utime(file, (0, 0))
    else:
        papers.change("DROP TABLE pinning")
    await asyncio.to_thread(found.remove)
    assert (file.exists(), other.exists()) == (True, False)


async def test_a_file_that_somebody_removed_is_not_found_and_nothing_else_fails(
    papers: Papers,
) -> None:
    (cited,) = await papers.do("paper_write", title="a", pictures=["an owl"])
    cited.unlink()
    assert papers.clean().code == 0
    async with open_kernel({"press": Press()}, folder=papers.zoo.folder) as kernel:
        with pytest.raises(VrError) as caught:
            kernel.services.artifacts.find(cited.name)
        assert caught.value.code is Code.NOT_FOUND
        assert await kernel.services.journal.record("default", "Papers", "a")
    (again,) = await papers.do("paper_write", title="a", pictures=["an owl"])
    assert again == cited
    assert cited.exists()
