"""The path policy: files of the allowed folders, and nothing else, whatever the path."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vr_kernel import Code, Config, Kernel, VrError, load_config
from vr_kernel.config.paths import server_roots
from vr_kernel.files.policy import Policy

INSIDE, OUTSIDE = b"inside", b"OUTSIDE"
posix = pytest.mark.skipif(sys.platform == "win32", reason="links and devices of POSIX")
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these files")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An allowed folder with a file and a sub-folder; forbidden neighbours lie beside it."""
    root = tmp_path.resolve() / "root"
    (root / "folder").mkdir(parents=True)
    for file in (root / "file.mp4", root / "folder" / "file.mp4"):
        file.write_bytes(INSIDE)
    for neighbour in ("root-secret", "roo", "outside"):
        (tmp_path / neighbour).mkdir()
        (tmp_path / neighbour / "file.mp4").write_bytes(OUTSIDE)
    return root


@pytest.fixture
def policy(root: Path) -> Policy:
    return Policy([root])


def _refused(policy: Policy, path: str | Path) -> VrError:
    """The one error that both doors answer with."""
    with pytest.raises(VrError) as resolving:
        policy.resolve_file(path)
    with pytest.raises(VrError) as opening:
        policy.open_file(path)
    assert (opening.value.code, opening.value.message) == (
        resolving.value.code,
        resolving.value.message,
    )
    assert opening.value.hint
    return opening.value


def _read(policy: Policy, path: str | Path) -> bytes:
    with policy.open_file(path) as file:
        assert isinstance(file.name, str)
        assert Path(file.name) == policy.resolve_file(path)
        return file.read()


@posix
def test_a_path_that_a_person_named_is_read_and_nothing_else(
    policy: Policy, root: Path, tmp_path: Path
) -> None:
    other = tmp_path / "outside"
    for name in ("file.srt", "file.de.vtt", "filed.mp4", "secret.txt"):
        (other / name).write_bytes(OUTSIDE)
    (other / "file.link").symlink_to(other / "secret.txt")
    policy.allow(other / "file.mp4")
    for name in ("file.mp4", "file.srt", "file.de.vtt"):
        assert _read(policy, other / name) == OUTSIDE
    for name in ("filed.mp4", "secret.txt", "file.link", "../roo/file.mp4"):
        assert _refused(policy, other / name).code is Code.NOT_ALLOWED
    with pytest.raises(VrError):
        policy.create_file(other, "file.txt")
    with pytest.raises(VrError):
        policy.match_files(other, "*")
    assert "vr init --folder" in _refused(policy, other / "secret.txt").hint


@posix
def test_a_link_that_a_person_named_is_followed_and_a_folder_opened(
    policy: Policy, root: Path, tmp_path: Path
) -> None:
    link, folder_link = tmp_path / "link.mp4", tmp_path / "folder-link"
    link.symlink_to(tmp_path / "outside" / "file.mp4")
    folder_link.symlink_to(tmp_path / "roo")
    (tmp_path / "roo" / "out.mp4").symlink_to(tmp_path / "root-secret" / "file.mp4")
    policy.allow(link)
    policy.allow(folder_link)
    assert _read(policy, link) == OUTSIDE
    found = policy.match_files(folder_link, "*").paths
    assert [path.name for path in found] == ["file.mp4"]
    assert _refused(policy, tmp_path / "roo" / "out.mp4").code is Code.NOT_ALLOWED


@linux
@pytest.mark.parametrize("path", ["/proc/self/environ", "/dev/zero", "/proc/self/cwd/x"])
def test_a_door_to_a_process_or_device_is_refused_also_when_it_was_typed(
    policy: Policy, path: str
) -> None:
    policy.allow(path)
    assert _refused(policy, path).code in (Code.NOT_ALLOWED, Code.NOT_FOUND)


@pytest.mark.parametrize(
    "path",
    [
        "file.mp4",
        "folder/file.mp4",
        "./file.mp4",
        "folder/../file.mp4",
        "../root/file.mp4",
        "//file.mp4",
    ],
)
def test_files_below_the_root_are_read(policy: Policy, root: Path, path: str) -> None:
    assert _read(policy, f"{root}/{path}") == INSIDE
    assert _read(policy, Path(root, path.lstrip("/"))) == INSIDE


def test_a_relative_path_counts_from_the_working_folder(
    policy: Policy, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root / "folder")
    assert _read(policy, "file.mp4") == INSIDE
    assert _read(policy, "../file.mp4") == INSIDE
    assert _refused(policy, "../../outside/file.mp4").code == Code.NOT_ALLOWED
    monkeypatch.chdir(root.parent)
    assert _refused(policy, "outside/file.mp4").code == Code.NOT_ALLOWED


@pytest.mark.parametrize(
    "path",
    [
        "../outside/file.mp4",
        "../root-secret/file.mp4",
        "../roo/file.mp4",
        "folder/../../outside/file.mp4",
        "..",
        "../..",
        "../missing.mp4",
        "/../../../../../../../../etc/passwd",
        "folder/../../../../../../../../../etc/passwd",
    ],
)
def test_what_lies_outside_is_refused(policy: Policy, root: Path, path: str) -> None:
    assert _refused(policy, f"{root}/{path}").code == Code.NOT_ALLOWED


@posix
@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "/", "/dev/zero", "/dev/stdin", "/proc/self/environ", "~", "~/x", "~root/x"],
)
def test_the_system_and_the_home_folder_are_refused(policy: Policy, path: str) -> None:
    assert _refused(policy, path).code == Code.NOT_ALLOWED


def test_whether_a_file_outside_exists_is_not_told(policy: Policy, root: Path) -> None:
    there, missing = (root.parent / "outside" / name for name in ("file.mp4", "nothing.mp4"))
    told = [_refused(policy, path) for path in (there, missing)]
    assert [error.code for error in told] == [Code.NOT_ALLOWED] * 2
    assert told[0].message.replace(str(there), "") == told[1].message.replace(str(missing), "")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("", Code.INVALID_INPUT),
        (" ", Code.INVALID_INPUT),
        ("\n", Code.INVALID_INPUT),
        ("\0", Code.INVALID_INPUT),
        ("{root}/file.mp4\0.txt", Code.INVALID_INPUT),
        ("{root}/" + "x" * 5000, Code.INVALID_INPUT),
        ("{root}/" + "folder/../" * 1000 + "file.mp4", Code.INVALID_INPUT),
        ("file://{root}/file.mp4", Code.INVALID_INPUT),
        ("file:///etc/passwd", Code.INVALID_INPUT),
        ("~no-such-user-here/file.mp4", Code.INVALID_INPUT),
        ("{root}/\ud800.mp4", Code.INVALID_INPUT),
        ("{root}", Code.INVALID_INPUT),
        ("{root}/folder", Code.INVALID_INPUT),
        ("{root}/folder/", Code.INVALID_INPUT),
        ("{root}/missing.mp4", Code.NOT_FOUND),
        ("{root}/missing/file.mp4", Code.NOT_FOUND),
        ("{root}/file.mp4\r\n", Code.NOT_FOUND),
        ("{root}/fi\nle.mp4", Code.NOT_FOUND),
        ("{root}/\uff46ile.mp4", Code.NOT_FOUND),
        ("{root}/file.mp4%00", Code.NOT_FOUND),
        ("{root}/~", Code.NOT_FOUND),
        ("{root}/$HOME", Code.NOT_FOUND),
    ],
)
def test_a_path_that_names_no_file_says_why(
    policy: Policy, root: Path, path: str, code: Code
) -> None:
    assert _refused(policy, path.replace("{root}", str(root))).code == code


@posix
@pytest.mark.parametrize("path", ["x" * 300, "file.mp4/inner"])
def test_what_the_system_refuses_is_a_typed_error(policy: Policy, root: Path, path: str) -> None:
    """A name longer than the file system takes, a file in the place of a folder."""
    assert _refused(policy, f"{root}/{path}").code in {Code.NOT_ALLOWED, Code.NOT_FOUND}


@pytest.mark.parametrize(
    "name",
    ["мой доклад.mp4", "🎬.mp4", "e\u0301.mp4", "講演 (1) [final].mp4", "-rf.mp4", "~", "%2e%2e"],
)
def test_any_name_of_a_real_file_is_read(policy: Policy, root: Path, name: str) -> None:
    (root / name).write_bytes(INSIDE)
    assert _read(policy, root / name) == INSIDE


@posix
@pytest.mark.parametrize("name", ["line\nfeed.mp4", "return\r\n.mp4", "tab\t.mp4", "\udcff.mp4"])
def test_a_file_with_an_odd_name_is_a_file(policy: Policy, root: Path, name: str) -> None:
    if sys.platform != "linux" and "\udcff" in name:
        pytest.skip("only Linux has names that are no unicode")
    (root / name).write_bytes(INSIDE)
    assert _read(policy, root / name) == INSIDE


def test_an_empty_file_is_a_file(policy: Policy, root: Path) -> None:
    (root / "empty.mp4").touch()
    assert _read(policy, root / "empty.mp4") == b""


@posix
def test_links_are_judged_by_where_they_lead(policy: Policy, root: Path) -> None:
    outside = root.parent / "outside"
    (root / "to-file").symlink_to(outside / "file.mp4")
    (root / "to-folder").symlink_to(outside)
    (root / "to-link").symlink_to(root / "to-file")
    (root / "up").symlink_to("..")
    (root / "nowhere").symlink_to(root / "missing")
    (root / "round").symlink_to(root / "round")
    (root / "within").symlink_to(root / "folder")
    (outside / "back").symlink_to(root / "file.mp4")
    for path in ("to-file", "to-folder/file.mp4", "to-link", "up/outside/file.mp4", "up"):
        assert _refused(policy, root / path).code == Code.NOT_ALLOWED
    assert _refused(policy, root / "nowhere").code == Code.NOT_FOUND
    assert _refused(policy, root / "round").code == Code.NOT_ALLOWED
    assert _read(policy, root / "within" / "file.mp4") == INSIDE
    assert _read(policy, outside / "back") == INSIDE


@posix
def test_a_root_behind_a_link_is_the_folder_it_leads_to(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    policy = Policy([link])
    assert _read(policy, link / "file.mp4") == INSIDE
    assert _read(policy, root / "file.mp4") == INSIDE
    link.unlink()
    link.symlink_to(root.parent / "outside")
    assert _refused(policy, link / "file.mp4").code == Code.NOT_ALLOWED


def test_a_hard_link_is_a_file_of_its_folder(policy: Policy, root: Path) -> None:
    """Nothing tells one name of a file from another; who may link it there may copy it there."""
    (root / "hard.mp4").hardlink_to(root.parent / "outside" / "file.mp4")
    assert _read(policy, root / "hard.mp4") == OUTSIDE


@posix
@pytest.mark.timeout(20)
def test_a_pipe_is_refused_without_waiting_for_its_other_end(policy: Policy, root: Path) -> None:
    os.mkfifo(root / "pipe.mp4")
    assert _refused(policy, root / "pipe.mp4").code == Code.NOT_ALLOWED


@linux
@pytest.mark.parametrize(
    "path", ["/dev/zero", "/dev/null", "/proc/self/environ", "/proc/version", "/proc/self/fd/0"]
)
def test_devices_and_processes_are_refused_even_below_a_root(path: str) -> None:
    assert _refused(Policy([Path("/"), Path("/proc")]), path).code == Code.NOT_ALLOWED


@linux
def test_a_way_through_the_process_folder_is_judged_by_its_end(policy: Policy, root: Path) -> None:
    assert _refused(policy, "/proc/self/root/etc/passwd").code == Code.NOT_ALLOWED
    assert _read(policy, f"/proc/self/root{root}/file.mp4") == INSIDE


@posix
@pytest.mark.skipif(sys.platform != "win32" and os.getuid() == 0, reason="root may read anything")
def test_a_file_without_permission_is_a_typed_error(policy: Policy, root: Path) -> None:
    (root / "file.mp4").chmod(0)
    with pytest.raises(VrError) as caught:
        policy.open_file(root / "file.mp4")
    assert caught.value.code == Code.NOT_ALLOWED


@posix
def test_folders_that_may_be_passed_but_not_listed_are_passed(policy: Policy, root: Path) -> None:
    (root / "folder").chmod(0o100)
    assert _read(policy, root / "folder" / "file.mp4") == INSIDE
    (root / "folder").chmod(0o700)


def test_a_root_may_be_one_file(root: Path) -> None:
    policy = Policy([root / "file.mp4"])
    assert _read(policy, root / "file.mp4") == INSIDE
    assert _refused(policy, root / "folder" / "file.mp4").code == Code.NOT_ALLOWED


def test_without_roots_nothing_is_read(root: Path) -> None:
    assert _refused(Policy([]), root / "file.mp4").code == Code.NOT_ALLOWED


@settings(max_examples=40)
@given(path=st.text(max_size=60))
def test_no_text_leads_out_of_the_root(tmp_path_factory: pytest.TempPathFactory, path: str) -> None:
    policy = Policy([tmp_path_factory.getbasetemp() / "an-empty-root"])
    for start in ("", f"{policy.roots[0]}/"):
        assert isinstance(_refused(policy, start + path), VrError)


# Files and folders that change between the check and the opening.

tries = pytest.mark.parametrize("tries", [1000, pytest.param(6000, marks=pytest.mark.slow)])


@contextmanager
def _meanwhile(change: Callable[[], None]) -> Iterator[None]:
    """Let another thread change the files, over and over."""
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            change()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _race(policy: Policy, path: Path, rounds: int) -> dict[str, int]:
    seen = {"inside": 0, "refused": 0}
    for _ in range(rounds):
        try:
            with policy.open_file(path) as file:
                assert file.read() == INSIDE
            seen["inside"] += 1
        except VrError:
            seen["refused"] += 1
    return seen


@posix
@tries
def test_a_file_swapped_for_a_link_never_shows_what_is_outside(
    policy: Policy, root: Path, tries: int
) -> None:
    target, link, real = root / "swap.mp4", root / "a-link", root / "a-file"

    def swap() -> None:
        link.symlink_to(root.parent / "outside" / "file.mp4")
        link.replace(target)
        real.write_bytes(INSIDE)
        real.replace(target)

    swap()
    with _meanwhile(swap):
        seen = _race(policy, target, tries)
    assert seen["inside"]
    assert seen["refused"]


@posix
@tries
def test_a_folder_swapped_for_a_link_never_shows_what_is_outside(
    policy: Policy, root: Path, tries: int
) -> None:
    """The link may be there at the opening alone: before and after, all looks well."""
    folder, aside, link = root / "folder", root / "aside", root / "link"
    link.symlink_to(root.parent / "outside")

    def swap() -> None:
        folder.rename(aside)
        link.rename(folder)
        folder.rename(link)
        aside.rename(folder)

    with _meanwhile(swap):
        seen = _race(policy, folder / "file.mp4", tries)
    assert seen["inside"]
    assert seen["refused"]


# The folder that a server is started in.


@posix
@pytest.mark.parametrize(
    ("started_in", "roots"),
    [
        ("/", []),
        ("{base}", []),
        ("{base}/home", []),
        ("{base}/home/me", []),
        ("{base}/home/me/../me", []),
        ("{base}/link-to-home", []),
        ("{base}/home/me/videos", ["{base}/home/me/videos"]),
        ("{base}/home/other", ["{base}/home/other"]),
        ("{base}/home/me-too", ["{base}/home/me-too"]),
        ("{base}/elsewhere", ["{base}/elsewhere"]),
    ],
)
def test_a_server_never_opens_the_home_folder_or_more(
    tmp_path: Path, started_in: str, roots: list[str]
) -> None:
    base = tmp_path.resolve()
    for name in ("home/me/videos", "home/other", "home/me-too", "elsewhere"):
        (base / name).mkdir(parents=True)
    (base / "link-to-home").symlink_to(base / "home" / "me")
    folder = Path(started_in.replace("{base}", str(base)))
    expected = [Path(root.replace("{base}", str(base))) for root in roots]
    assert server_roots(folder, base / "home" / "me") == expected


async def test_configured_folders_are_roots_and_the_state_folder_is_not(
    start: Callable[..., object], environ: dict[str, str], root: Path
) -> None:
    allowed = environ | {"VR_ALLOWED_ROOTS": f"{root}{os.pathsep}{root.parent / 'roo'}"}
    kernel = await start(config=load_config(allowed, working_folder=root))
    assert _read(kernel.services.policy, root / "file.mp4") == INSIDE
    assert _read(kernel.services.policy, root.parent / "roo" / "file.mp4") == OUTSIDE
    assert (
        _refused(kernel.services.policy, root.parent / "outside" / "file.mp4").code
        == Code.NOT_ALLOWED
    )
    await kernel.services.journal.last_seq()
    assert _refused(kernel.services.policy, kernel.config.paths.journal).code == Code.NOT_ALLOWED


async def test_a_program_names_its_folders_as_paths_or_as_text(config: Config, root: Path) -> None:
    for roots in ([root], [str(root)], str(root)):
        async with Kernel.open(config, {}, roots=roots) as kernel:
            assert kernel.services.policy.roots[0] == root
            assert len(kernel.services.policy.roots) == 2
