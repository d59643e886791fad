"""Patterns are matched inside a folder, within bounds; new files get safe names."""

from __future__ import annotations

import ntpath
import os
import stat
import sys
import tempfile
import unicodedata
from contextlib import suppress
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vr_kernel import Code, VrError
from vr_kernel.files.names import NAME_BYTES, numbered, safe_name
from vr_kernel.files.patterns import ENTRIES_LIMIT, Search
from vr_kernel.files.policy import NUMBERS, Policy

posix = pytest.mark.skipif(sys.platform == "win32", reason="links and permissions of POSIX")
FILES = [
    "a.mp4", "b.mp4", "b.txt", "deep/c.mp4", "deep/er/d.mp4", "deep/er/d.txt", "[x].mp4",
    ".hidden.mp4", ".folder/e.mp4", "deep/.f.mp4",
]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "root"
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name, "utf-8")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "o.mp4").write_text("outside", "utf-8")
    return root


@pytest.fixture
def policy(root: Path) -> Policy:
    return Policy([root])


def _matches(policy: Policy, folder: Path, pattern: str) -> list[str]:
    found = policy.match_files(folder, pattern)
    assert found.complete
    return [path.relative_to(folder).as_posix() for path in found.paths]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.mp4", ["[x].mp4", "a.mp4", "b.mp4"]),
        ("?.mp4", ["a.mp4", "b.mp4"]),
        ("[ab].*", ["a.mp4", "b.mp4", "b.txt"]),
        ("[[]x].mp4", ["[x].mp4"]),
        ("*/*.mp4", ["deep/c.mp4"]),
        ("**/*.txt", ["b.txt", "deep/er/d.txt"]),
        ("deep/**/*.mp4", ["deep/c.mp4", "deep/er/d.mp4"]),
        ("**/er/**", ["deep/er/d.mp4", "deep/er/d.txt"]),
        ("**/**/d.*", ["deep/er/d.mp4", "deep/er/d.txt"]),
        ("./deep//c.mp4", ["deep/c.mp4"]),
        (".*.mp4", [".hidden.mp4"]),
        (".folder/*", [".folder/e.mp4"]),
        ("**/.*", [".hidden.mp4", "deep/.f.mp4"]),
        ("nothing*", []),
        ("deep", []),
    ],
)
def test_a_pattern_finds_files(policy: Policy, root: Path, pattern: str, names: list[str]) -> None:
    assert _matches(policy, root, pattern) == names


def test_hidden_files_are_met_by_name_alone(policy: Policy, root: Path) -> None:
    found = _matches(policy, root, "**")
    assert found == [n for n in _matches(policy, root, "**/*") if "/." not in f"/{n}"]
    assert found == sorted((n for n in FILES if "/." not in f"/{n}"), key=lambda n: n.split("/"))


@pytest.mark.parametrize(
    "pattern",
    [
        "", " " * 301, "../*", "..", "deep/../../*", "**/..", "/**", "/etc/*", "~", "~/*",
        "~root/*", "a\0*", "\\\\host\\*", "..\\*", "*" * 301, "\ud800", "\\*",
    ],
)  # fmt: skip
def test_a_pattern_that_leads_out_is_refused(policy: Policy, root: Path, pattern: str) -> None:
    with pytest.raises(VrError) as caught:
        policy.match_files(root, pattern)
    assert (caught.value.code, caught.value.category) == (Code.INVALID_INPUT, "PATTERN_INVALID")
    assert caught.value.hint


def test_folders_are_judged_like_files(policy: Policy, root: Path) -> None:
    def refuse(folder: Path | str) -> Code:
        with pytest.raises(VrError) as matching:
            policy.match_files(folder, "*")
        with pytest.raises(VrError) as creating:
            policy.create_file(folder, "x")
        assert matching.value.code == creating.value.code
        return matching.value.code

    assert refuse(root.parent) is Code.NOT_ALLOWED
    assert refuse(root.parent / "outside") is Code.NOT_ALLOWED
    assert refuse("~") is Code.NOT_ALLOWED
    assert refuse(root / "missing") is Code.NOT_FOUND
    assert refuse(root / "a.mp4") is Code.INVALID_INPUT


@posix
def test_links_lead_nowhere(policy: Policy, root: Path) -> None:
    (root / "out").symlink_to(root.parent / "outside")
    (root / "out.mp4").symlink_to(root.parent / "outside" / "o.mp4")
    (root / "in.mp4").symlink_to(root / "deep" / "c.mp4")
    (root / "round").symlink_to(root)
    (root / "nowhere.mp4").symlink_to(root / "nothing")
    os.mkfifo(root / "pipe.mp4")
    found = _matches(policy, root, "*.mp4")
    assert found == ["[x].mp4", "a.mp4", "b.mp4", "in.mp4"]
    assert _matches(policy, root, "out/*") == []
    assert len(_matches(policy, root, "**/c.mp4")) == 1
    with pytest.raises(VrError):
        policy.match_files(root / "out", "*")


def test_a_limit_is_kept_and_told(policy: Policy, root: Path) -> None:
    found = policy.match_files(root, "**", limit=2)
    assert (len(found.paths), found.complete) == (2, False)
    assert policy.match_files(root, "*.txt", limit=1).complete


def test_no_depth_is_entered_without_end(policy: Policy, root: Path) -> None:
    folder = root
    for _ in range(40):
        folder /= "x"
    folder.mkdir(parents=True)
    (folder / "far.mp4").touch()
    found = policy.match_files(root, "**/far.mp4")
    assert found == ((), False)


@posix
@pytest.mark.slow
def test_more_files_than_anybody_reads_are_not_all_looked_at(tmp_path: Path) -> None:
    for part in range(ENTRIES_LIMIT // 1000 + 20):
        folder = tmp_path / f"{part:03}"
        folder.mkdir()
        for number in range(1000):
            os.mknod(folder / f"{number}")
    assert Policy([tmp_path]).match_files(tmp_path, "**/nothing") == ((), False)


@posix
def test_many_files_of_one_folder_are_not_all_looked_at(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number}").touch()
    search = Search(["*"], entries=10)
    handle = os.open(tmp_path, os.O_RDONLY)
    assert len(list(search.below(tmp_path, handle))) == 10
    assert not search.complete
    os.close(handle)


patterns = st.text(st.sampled_from("ab.*?[]!{}-/\\~ \0\u202e\ud800") | st.characters(), max_size=30)


@given(pattern=patterns)
def test_no_pattern_finds_what_is_outside(pattern: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        base = Path(name).resolve()
        (base / "root" / "a").mkdir(parents=True)
        for file in ("secret", "root/b", "root/a/b"):
            (base / file).touch()
        paths: tuple[Path, ...] = ()
        with suppress(VrError):
            paths = Policy([base / "root"]).match_files(base / "root", pattern).paths
        assert set(paths) <= {base / "root" / "b", base / "root" / "a" / "b"}


# Names of new files.


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("talk.mp4", "talk.mp4"),
        ("My talk (1) [final].mp4", "My talk (1) [final].mp4"),
        ("\u8b1b\u6f14.pdf", "\u8b1b\u6f14.pdf"),
        ("a\\..\\..\\b", "b"),
        ("../../x.txt", "x.txt"),
        ("/etc/passwd", "passwd"),
        ("C:\\Windows\\win.ini", "win.ini"),
        ("a.txt:stream", "a.txt_stream"),
        ("..", "file"),
        ("", "file"),
        ("\0\x1b\u202e", "file"),
        (".bashrc", "bashrc"),
        ("-rf", "rf"),
        ("~root", "root"),
        ("CON", "_CON"),
        ("nul.tar.gz", "_nul.tar.gz"),
        ("COM\u00b9.txt", "_COM\u00b9.txt"),
        ("con .txt", "_con .txt"),
        ("console.txt", "console.txt"),
        ("name. . ", "name"),
        ("a\r\nb\tc.txt", "a b c.txt"),
        ("gpj.\u202eexe.txt", "gpj.exe.txt"),
        ("in\u200bvis\U000e0061ible", "invisible"),
        ("..\u2215..\u2215x", "_.._x"),
        ("e\u0301.txt", "\u00e9.txt"),
        ('<a>|"b"?*.txt', "_a___b___.txt"),
        ("x" * 300 + ".mp4", "x" * 196 + ".mp4"),
        ("\u8b1b" * 100 + ".mp4", "\u8b1b" * 65 + ".mp4"),
        ("x." + "y" * 300, "x." + "y" * 198),
    ],
)
def test_a_name_is_made_safe(text: str, name: str) -> None:
    assert safe_name(text) == name


def test_a_number_stands_before_the_ending() -> None:
    assert [numbered(n, 2) for n in ("a.mp4", "a", "a.tar.gz")] == [
        "a (2).mp4",
        "a (2)",
        "a.tar (2).gz",
    ]


# Since Python 3.13 the module of paths says so, and the method is deprecated.
is_reserved = getattr(ntpath, "isreserved", PureWindowsPath.is_reserved)
odd = st.sampled_from("./\\:~- \0\x1b\u202e\u200b\ud800\u2215\uff0fCONnul\u00b9\u0301$")


@given(text=st.text(odd | st.characters(), max_size=300))
def test_any_text_gives_one_part_of_a_path(text: str) -> None:
    name = safe_name(text)
    assert Path("/folder", name).parent == Path("/folder")
    windows = PureWindowsPath("C:/folder", name)
    assert (windows.parent, windows.name) == (PureWindowsPath("C:/folder"), name)
    assert not is_reserved(windows)
    assert name
    assert not name.startswith((".", "-", "~", " "))
    assert not name.endswith((".", " "))
    assert not [c for c in name if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Cn"}]
    assert len(name.encode()) <= NAME_BYTES + 1
    assert safe_name(name) == name


def test_a_file_is_made_and_never_overwritten(policy: Policy, root: Path) -> None:
    for number, name in enumerate(["x.txt", "x (2).txt", "x (3).txt"]):
        with policy.create_file(root / "deep", "../../x.txt") as file:
            assert file.name == str(root / "deep" / name)
            file.write(b"%d" % number)
    assert (root / "deep" / "x.txt").read_bytes() == b"0"
    assert not (root.parent / "x.txt").exists()
    if os.name != "nt":
        assert stat.S_IMODE((root / "deep" / "x.txt").stat().st_mode) == 0o600


@posix
def test_a_link_in_the_place_of_a_new_file_is_not_followed(policy: Policy, root: Path) -> None:
    target = root.parent / "outside" / "made.txt"
    (root / "made.txt").symlink_to(target)
    with policy.create_file(root, "made.txt") as file:
        file.write(b"new")
    assert Path(file.name).name == "made (2).txt"
    assert not target.exists()


def test_files_of_one_name_are_bounded(policy: Policy, root: Path) -> None:
    for number in range(1, NUMBERS + 1):
        (root / ("x" if number == 1 else f"x ({number})")).touch()
    with pytest.raises(VrError) as caught:
        policy.create_file(root, "x")
    assert caught.value.code is Code.CONFLICT


@posix
def test_a_root_may_be_everything() -> None:
    assert Policy([Path("/")]).match_files("/", "nothing-of-that-name") == ((), True)
