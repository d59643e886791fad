"""Files of the user's folders are written whole, where they belong, and over nothing unread."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from vr_kernel import WRITES_LOCAL, Call, Code, Files, VrError, load_config, tool
from vr_kernel.calls.files import CallFiles
from vr_kernel.files.policy import Policy
from vr_testing.full_disk import fill_up, small_disk

posix = pytest.mark.skipif(sys.platform == "win32", reason="links, modes and pipes of POSIX")


def names_below(folder: Path, pattern: str = "*") -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob(pattern))


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An allowed folder, beside one that is not."""
    (tmp_path / "outside").mkdir()
    root = tmp_path.resolve() / "root"
    root.mkdir()
    return root


@pytest.fixture(params=["handles", "paths"])
def files(request: pytest.FixtureRequest, root: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """Files below that folder; also as on a system that cannot open folders."""
    if request.param == "paths":
        monkeypatch.setattr(os, "supports_dir_fd", set())
    return CallFiles(Policy([root]))


@pytest.fixture
def nothing_else(root: Path) -> Iterator[None]:
    """No temporary file is left, and nothing was written outside."""
    yield
    assert names_below(root.parent, ".part-*") == []
    outside = root.parent / "outside"
    assert [name for name in names_below(outside) if (outside / name).is_file()] == []


pytestmark = pytest.mark.usefixtures("nothing_else")


async def refused(work: Any) -> VrError:
    with pytest.raises(VrError) as caught:
        await work
    assert caught.value.hint
    return caught.value


async def test_a_file_is_created_replaced_and_lengthened(files: Files, root: Path) -> None:
    first = await files.write(root, ".nova/notes/a.md", b"one")
    assert await files.read(root, ".nova/notes/a.md") == (b"one", first)
    second = await files.write(root, ".nova/notes/a.md", b"two", first)
    third = await files.write(root, ".nova/notes/a.md", b" three", append=True)
    assert (second, third) == (digest_of(b"two"), digest_of(b"two three"))
    fourth = await files.write(root, ".nova/notes/a.md", b"!", third, append=True)
    assert await files.read(root, ".nova/notes/a.md") == (b"two three!", fourth)
    assert await files.write(root, "new.log", b"", append=True) == digest_of(b"")


async def test_nothing_unread_is_written_over(files: Files, root: Path) -> None:
    read = await files.write(root, "a.md", b"one")
    assert (await refused(files.write(root, "a.md", b"two"))).category == "FILE_EXISTS"
    (root / "a.md").write_bytes(b"edited by a person")
    for append in (False, True):
        error = await refused(files.write(root, "a.md", b"two", read, append=append))
        assert (error.code, error.category) == (Code.CONFLICT, "FILE_CHANGED")
    assert (root / "a.md").read_bytes() == b"edited by a person"
    for gone in ("b.md", "no/folder/b.md"):
        assert (await refused(files.write(root, gone, b"", read))).category == "FILE_CHANGED"
    assert names_below(root) == ["a.md"]
    assert (await refused(files.read(root, "b.md"))).category == "FILE_NOT_FOUND"


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../a", "a/../b", "/a", "a//b", "a/", "a\\b", "a\0", "\ud800", "a\nb"),
        *("nul.txt", "COM1", "a:b", "a.", "a ", "-x", "a*", "x" * 300, "a/" * 40 + "b"),
        *("\u202egpj.exe", "C:/a", "~/a"),
    ],
    ids=repr,
)
async def test_a_name_that_some_system_does_not_take_is_refused(
    files: Files, root: Path, name: str
) -> None:
    for work in (files.write(root, name, b"x"), files.read(root, name)):
        error = await refused(work)
        assert (error.code, error.category) == (Code.INVALID_INPUT, "NAME_INVALID")
    assert names_below(root) == []


async def test_a_text_is_refused_before_anything_is_made(files: Files, root: Path) -> None:
    error = await refused(files.write(root, "notes/a.md", "text"))  # type: ignore[arg-type]
    assert (error.code, "encode" in error.hint) == (Code.INVALID_INPUT, True)
    assert names_below(root) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(name=st.text(st.sampled_from("ab./\\~ :\0é\u0301中\ud800")) | st.text(max_size=20))
async def test_every_name_is_refused_or_is_a_file_below(root: Path, name: str) -> None:
    files = CallFiles(Policy([root]))
    try:
        await files.write(root, name, b"x", append=True)
        outcome = "written" if (root / name).resolve().is_relative_to(root) else "lost"
    except VrError as error:
        outcome = error.code
    assert outcome in {"written", Code.INVALID_INPUT}


NAMES = st.sampled_from(["a", "b", "sub/a", "a/under"])
WRITES = st.tuples(NAMES, st.binary(max_size=4), st.sampled_from(["new", "read", "stale"]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(steps=st.lists(st.tuples(WRITES, st.booleans()), max_size=12))
async def test_writing_does_what_a_dictionary_would(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Any]
) -> None:
    root = tmp_path_factory.mktemp("model").resolve()
    files, model = CallFiles(Policy([root])), dict[str, bytes]()
    for (name, data, mode), append in steps:
        held = model.get(name)
        expected = {"new": None, "stale": digest_of(b"stale")}.get(mode, digest_of(held or b"-"))
        nests = any(name.startswith(f"{it}/") or it.startswith(f"{name}/") for it in model)
        fits = digest_of(held or b"") == expected if expected and held is not None else not expected
        if not nests and fits and (held is None or expected or append):
            model[name] = (held or b"") + data if append else data
            assert await files.write(root, name, data, expected, append=append) == digest_of(
                model[name]
            )
        else:
            await refused(files.write(root, name, data, expected, append=append))
    found = {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}
    assert found == model


@posix
async def test_nothing_is_written_through_a_link(files: Files, root: Path) -> None:
    outside = root.parent / "outside"
    (root / "inner" / "deep").mkdir(parents=True)
    (root / "inner" / "held.md").write_bytes(b"held")
    (root / "deeper").symlink_to(root / "inner" / "deep")
    (root / "out").symlink_to(outside)
    (root / "within").symlink_to(root / "inner")
    (root / "file.md").symlink_to(root / "inner" / "held.md")
    (root / "dangling.md").symlink_to(outside / "made.md")
    tries = [(root, "out/a.md"), (root, "within/a.md"), (root, "file.md"), (root, "dangling.md")]
    tries += [(root / "out", "a.md"), (root / "within", "a.md"), (root / "deeper/..", "a.md")]
    for folder, name in tries:
        for expected, append in ((None, False), (digest_of(b"held"), False), (None, True)):
            error = await refused(files.write(folder, name, b"x", expected, append=append))
            assert error.code is Code.NOT_ALLOWED, (folder, name)
        assert (await refused(files.read(folder, name))).code is Code.NOT_ALLOWED
    assert names_below(root / "inner") == ["deep", "held.md"]
    assert (root / "inner" / "held.md").read_bytes() == b"held"


@posix
async def test_a_root_may_lie_behind_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    (root / "sub").mkdir()
    files = CallFiles(Policy([tmp_path / "link"]))
    for folder in (tmp_path / "link", tmp_path / "link" / "sub", root / "sub", root / "sub" / ".."):
        await files.write(folder, f"{len(names_below(root))}.md", b"x")


async def test_a_file_too_large_to_be_read_is_neither_written_nor_lengthened(
    files: Files, root: Path
) -> None:
    """A sparse file of a terabyte is refused at once; what was written can be read."""
    with (root / "huge").open("wb") as file:
        file.truncate(10**12)
    with (root / "full").open("wb") as file:
        file.truncate(100_000_000)
    for work in (
        files.read(root, "huge"),
        files.write(root, "huge", b"x", append=True),
        files.write(root, "huge", b"x", "0" * 64),
        files.write(root, "full", b"x", append=True),
        files.write(root, "new", bytes(100_000_001)),
    ):
        assert (await refused(work)).code is Code.TOO_LARGE
    assert (root / "full").stat().st_size == 100_000_000
    assert not (root / "new").exists()


@posix
async def test_only_files_are_written(files: Files, root: Path) -> None:
    (root / "folder").mkdir()
    (root / "file").write_bytes(b"x")
    os.mkfifo(root / "pipe")
    cases = {
        "folder": Code.INVALID_INPUT,
        "file/a.md": Code.INVALID_INPUT,
        "pipe": Code.NOT_ALLOWED,
        "pipe/a.md": Code.INVALID_INPUT,
    }
    for name, code in cases.items():
        for work in (files.write(root, name, b"x", append=True), files.read(root, name)):
            assert (await refused(work)).code is code, name
    for folder, code in ((root / "none", Code.NOT_FOUND), (root / "file", Code.INVALID_INPUT)):
        assert (await refused(files.write(folder, "a.md", b"x"))).code is code


async def test_it_stays_below_the_roots_of_the_caller(files: Files, root: Path) -> None:
    for folder in (
        root.parent,
        root.parent / "outside",
        Path("/proc/self"),
        root / ".." / "outside",
    ):
        assert (await refused(files.write(folder, "a.md", b"x"))).code is Code.NOT_ALLOWED
    own = Policy([root / "mine"], untold=root)
    assert (await refused(CallFiles(own).write(root, "a.md", b"x"))).code is Code.NOT_ALLOWED
    named = Policy([])
    named.allow(root.parent / "outside" / "talk.mp4")
    (root.parent / "outside" / "talk.d").mkdir()
    error = await refused(CallFiles(named).write(root.parent / "outside" / "talk.d", "a", b"x"))
    assert error.code is Code.NOT_ALLOWED


@posix
async def test_permissions_are_kept_and_heeded(files: Files, root: Path) -> None:
    read = await files.write(root, "new/a.md", b"one")
    assert (root / "new").stat().st_mode & 0o777 == 0o700
    assert (root / "new/a.md").stat().st_mode & 0o777 == 0o600
    (root / "new/a.md").chmod(0o640)
    read = await files.write(root, "new/a.md", b"two", read)
    assert (root / "new/a.md").stat().st_mode & 0o777 == 0o640
    (root / "new/a.md").chmod(0o440)
    assert (await refused(files.write(root, "new/a.md", b"x", read))).code is Code.NOT_ALLOWED
    if os.geteuid():  # root may write everywhere
        (root / "new").chmod(0o500)
        assert (await refused(files.write(root, "new/b.md", b"x"))).code is Code.NOT_ALLOWED
        (root / "new").chmod(0o700)


@posix
async def test_a_full_disk_leaves_what_was_there(root: Path) -> None:
    with small_disk(root / "disk") as disk:
        files = CallFiles(Policy([root]))
        read = await files.write(disk, "a.md", b"one" * 1000)
        fill_up(disk / "hog")
        for work in (
            files.write(disk, "a.md", b"two" * 9000, read),
            files.write(disk, "a.md", b"two" * 9000, append=True),
            files.write(disk, "b.md", b"two" * 9000),
        ):
            error = await refused(work)
            assert (error.code, error.retryable) == (Code.UNAVAILABLE, True)
        assert sorted(path.name for path in disk.iterdir()) == ["a.md", "hog"]
        assert (disk / "a.md").read_bytes() == b"one" * 1000


async def test_of_writers_at_once_one_wins(files: Files, root: Path) -> None:
    async def attempt(expected: str | None, number: int) -> str:
        try:
            return await files.write(root, "a.md", b"%d" % number, expected)
        except VrError as error:
            return error.category

    first = await asyncio.gather(*(attempt(None, number) for number in range(8)))
    assert first.count("FILE_EXISTS") == 7
    (read,) = {*first} - {"FILE_EXISTS"}
    second = await asyncio.gather(*(attempt(read, number) for number in range(10, 18)))
    assert second.count("FILE_CHANGED") == 7
    assert {*second} - {"FILE_CHANGED"} == {digest_of((root / "a.md").read_bytes())}


APPENDING = """
import asyncio, sys
from vr_kernel.calls.files import CallFiles
from vr_kernel.files.policy import Policy
async def main():
    files = CallFiles(Policy([sys.argv[1]]))
    for number in range(40):
        block = f"{sys.argv[2]} {number:06}\\n".encode() * 50
        await files.write(sys.argv[1], "all.log", block, append=True)
asyncio.run(main())
"""


async def test_blocks_of_several_processes_all_come_and_readers_see_them_whole(root: Path) -> None:
    def append(name: str) -> int:
        command = [sys.executable, "-c", APPENDING, str(root), name]
        return subprocess.run(command, check=False).returncode

    with ThreadPoolExecutor() as pool:
        running = [pool.submit(append, name) for name in "xyz"]
        block = len(b"x 000000\n") * 50
        while not all(each.done() for each in running):
            if (root / "all.log").is_file():
                seen = await asyncio.to_thread((root / "all.log").read_bytes)
                assert len(seen) % block == 0
    assert [each.result() for each in running] == [0, 0, 0]
    lines = (root / "all.log").read_bytes().splitlines()
    assert len(lines) == len("xyz") * 40 * 50
    for name in b"xyz":
        mine = [line for line in lines if line[0] == name]
        assert mine == sorted(mine)


@posix
async def test_a_folder_swapped_for_a_link_is_not_followed(root: Path) -> None:
    """With open folders alone: a path can be swapped between a look and its use."""
    files, done = CallFiles(Policy([root])), threading.Event()
    secret = root.parent / "secret"
    for folder in (root / "sub", secret):
        folder.mkdir()
        (folder / "a.md").write_bytes(b"0")
    (root / "link").symlink_to(secret)

    def swap() -> None:
        names = [("sub", "moved"), ("link", "sub"), ("sub", "link"), ("moved", "sub")]
        while not done.is_set():
            for source, target in names:
                (root / source).rename(root / target)

    swapping = threading.Thread(target=swap)
    swapping.start()
    outcomes = set()
    try:
        for _ in range(300):
            try:
                await files.write(root, "sub/a.md", b"0", digest_of(b"0"))
                outcomes.add("written")
            except VrError as error:
                outcomes.add(error.category or error.code)
    finally:
        done.set()
        swapping.join()
    assert names_below(secret) == ["a.md"]
    assert "written" in outcomes


REPLACING = """
import asyncio, sys
from vr_kernel.calls.files import CallFiles
from vr_kernel.files.policy import Policy
async def main():
    files = CallFiles(Policy([sys.argv[1]]))
    read = None
    for number in range(100_000):
        read = await files.write(sys.argv[1], "a.md", b"%d" % (number % 10) * 300_000, read)
        print(flush=True)
asyncio.run(main())
"""


def killed_after(root: Path, writes: int) -> None:
    """Let another process replace a file again and again, and kill it in the middle."""
    command = [sys.executable, "-c", REPLACING, str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(writes):
            process.stdout.readline()
        process.kill()


@pytest.mark.slow
async def test_a_killed_writer_leaves_a_whole_file_and_no_lock(root: Path) -> None:
    files, file = CallFiles(Policy([root])), root / "a.md"
    for writes in range(1, 21):
        file.unlink(missing_ok=True)
        await asyncio.to_thread(killed_after, root, writes)
        data, digest = await files.read(root, "a.md")
        assert (len(data), len(set(data))) == (300_000, 1)
        await files.write(root, "a.md", b"next", digest)
    for left in names_below(root, ".part-*"):
        (root / left).unlink()  # a dead writer cannot


DYING = """
import asyncio, resource, signal, sys
from vr_kernel.calls.files import CallFiles
from vr_kernel.files.policy import Policy
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))
asyncio.run(CallFiles(Policy([sys.argv[1]])).write(sys.argv[1], "a.md", b"x" * 900_000))
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without a name are of Linux")
def test_a_writer_that_dies_while_it_writes_leaves_nothing(root: Path) -> None:
    """The system kills it at the first byte beyond a limit."""
    died = subprocess.run([sys.executable, "-c", DYING, str(root)], check=False)
    assert died.returncode == -signal.SIGXFSZ
    assert names_below(root) == []


async def test_a_cancelled_call_writes_all_or_nothing_and_nothing_later(
    files: Files, root: Path
) -> None:
    work = asyncio.ensure_future(files.write(root, "a.md", b"x" * 5_000_000))
    await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert {(root / name).stat().st_size for name in names_below(root)} <= {5_000_000}


class Written(BaseModel):
    """The digest of what was written."""

    digest: str


@tool(effects=WRITES_LOCAL)
async def note_down(call: Call, folder: str, text: str) -> Written:
    """Write a note."""
    return Written(digest=await call.files.write(folder, "note.md", text.encode()))


async def test_a_tool_writes_below_the_roots_of_its_caller(
    start: Any, make_plugin: Any, environ: dict[str, str], root: Path
) -> None:
    variables = {**environ, "VR_ALLOWED_ROOTS": str(root)}
    config = load_config(environ=variables, working_folder=root)
    kernel = await start({"note": make_plugin(tools=[note_down])}, config=config)
    written = await kernel.call("note_down", folder=str(root), text="hello")
    assert written.digest == digest_of(b"hello") == digest_of((root / "note.md").read_bytes())
    outside = str(root.parent / "outside")
    assert (await refused(kernel.call("note_down", folder=outside, text="x"))).code is (
        Code.NOT_ALLOWED
    )
    artifact = kernel.services.artifacts.add(b"a chart", "text/plain").path
    for folder in (artifact.parent, artifact.parent.parent):
        kernel.services.policy.allow(folder)
        writer = CallFiles(kernel.services.policy)
        name = str(artifact.relative_to(folder))
        appended = writer.write(folder, name, b"x", append=True)
        assert (await refused(appended)).code is Code.NOT_ALLOWED
        assert (await writer.read(folder, name))[0] == artifact.read_bytes() == b"a chart"
    kernel.services.policy.allow(config.paths.state.parent)
    for own in (config.paths.state, config.paths.config, config.paths.cache):
        writing = CallFiles(kernel.services.policy).write(own.parent, f"{own.name}/rows.db", b"x")
        assert (await refused(writing)).code is Code.NOT_ALLOWED
        assert not (own / "rows.db").exists()
