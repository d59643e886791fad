"""Folders: walked without leaving them, as Git ignores, and recognised when nothing changed."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from vr_kernel import Code, VrError
from vr_kernel.files import Policy
from vr_plugin_content.folders.contents import digest_files
from vr_plugin_content.folders.ignore_rules import IgnoreRules
from vr_plugin_content.folders.listing import Listing, Reason, limits_of
from vr_plugin_content.folders.manifest import (
    Manifest,
    changes_of,
    digest,
    digests_of,
    known_digests,
    manifest_of,
    unchanged,
)
from vr_plugin_content.folders.walker import list_files
from vr_plugin_content.settings import ContentSettings

LATER_NS = 10_000_000_000
SETTINGS = ContentSettings()
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="Git is not installed")


class Tree:
    """A folder with files, and a policy that allows it."""

    def __init__(self, home: Path) -> None:
        self.home = Path(os.path.realpath(home))
        self.top = self.home / "allowed" / "tree"
        self.top.mkdir(parents=True)
        self.policy = Policy([self.top.parent])

    def write(self, path: str, content: str | bytes = "words\n") -> Path:
        file = self.top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def list(self, **given: int) -> Listing:
        return list_files(self.policy, self.top, SETTINGS.model_copy(update=given))

    def paths(self) -> list[str]:
        return [it.path for it in self.list().files]

    def read(self, before: Manifest | None = None, *, later: int = LATER_NS) -> Manifest:
        """Read the folder as if some time had passed since its last change."""
        listing = self.list()
        listing.taken_ns += later
        known = known_digests(before, listing) if before else {}
        return manifest_of(listing, digest_files(self.policy, self.top, listing, SETTINGS, known))

    def is_unchanged(self, manifest: Manifest) -> bool:
        return unchanged(self.policy, self.top, manifest)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_files_come_in_the_order_of_their_paths(tree: Tree) -> None:
    for path in ("b.md", "a/z.py", "a.md", "a/b/c.txt", "a-b/x.py", "Makefile"):
        tree.write(path)
    assert tree.paths() == sorted(tree.paths())
    assert len(tree.paths()) == 6
    assert [it.path for it in tree.list().folders] == ["", "a-b", "a", "a/b"]


def test_what_is_no_readable_text_is_left_out_with_its_reason(tree: Tree) -> None:
    tree.write("kept.md")
    tree.write("film.mp4", b"\0\0")
    tree.write("icon.png", b"\x89PNG\r\n\x1a\n")
    tree.write("large.txt", "x" * 2_000_000)
    tree.write(".env", "PASSWORD=1")
    tree.write(".git/config")
    tree.write("node_modules/pkg/index.js")
    tree.write("two\nlines.txt")
    listing = tree.list()
    assert [it.path for it in listing.files] == ["kept.md"]
    assert listing.skipped == {
        Reason.BINARY: 1, Reason.PICTURE: 1, Reason.TOO_LARGE: 1, Reason.SECRET: 1,
        Reason.USUAL: 2, Reason.NAME: 1,
    }  # fmt: skip
    (told,) = limits_of(listing.skipped, SETTINGS, complete=listing.complete)
    assert "1 too large" in told
    assert "max_text_file_kb" in told


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such a name")
def test_pipes_and_names_that_are_no_text_are_passed_over(tree: Tree) -> None:
    os.mkfifo(tree.top / "pipe.txt")
    os.mkfifo(tree.top / ".gitignore")
    Path(os.fsdecode(os.fsencode(tree.top) + b"/\xff.txt")).touch()
    Path(os.fsdecode(os.fsencode(tree.top) + b"/\xfe")).mkdir()
    assert tree.paths() == []
    assert tree.list().skipped == {Reason.NAME: 2, Reason.SPECIAL: 2}


def test_links_lead_nowhere_but_to_files_that_may_be_read(tree: Tree) -> None:
    secret = tree.home / "secret"
    secret.mkdir()
    (secret / "key.md").write_text("secret")
    shared = tree.top.parent / "shared.md"
    shared.write_text("shared")
    tree.write("inner/a.md")
    for name, target in {
        "folder": secret, "round": tree.top, "out.md": secret / "key.md",
        "shared.md": shared, "gone.md": tree.top / "nothing.md",
    }.items():  # fmt: skip
        (tree.top / name).symlink_to(target)
    listing = tree.list()
    assert [it.path for it in listing.files] == ["inner/a.md", "shared.md"]
    assert listing.skipped == {Reason.LINK: 4}
    with pytest.raises(VrError) as caught:
        list_files(tree.policy, tree.top / "folder", SETTINGS)
    assert caught.value.code is Code.NOT_ALLOWED


def test_a_folder_that_is_swapped_for_a_link_is_not_entered(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write("a/inside.md")
    outside = tree.home / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    really = os.open

    def swapping(path: str, *given: int, **more: int) -> int:
        if path == "a":
            shutil.rmtree(tree.top / "a")
            (tree.top / "a").symlink_to(outside)
        return really(path, *given, **more)

    monkeypatch.setattr(os, "open", swapping)
    listing = tree.list()
    assert listing.files == []
    assert listing.skipped == {Reason.UNREADABLE: 1}


def test_the_bounds_of_number_and_depth_end_a_walk(tree: Tree) -> None:
    for number in range(5):
        tree.write(f"{number}.md")
    listing = tree.list(max_files=3)
    assert [it.path for it in listing.files] == ["0.md", "1.md", "2.md"]
    assert not listing.complete
    assert "max_files" in limits_of(listing.skipped, SETTINGS, complete=False)[0]
    tree.write("/".join(["d"] * 40) + "/deep.md")
    deep = tree.list()
    assert deep.skipped == {Reason.TOO_DEEP: 1}
    assert not deep.complete


def test_an_ignore_file_may_take_in_what_is_usually_left_out(tree: Tree) -> None:
    tree.write("build/a.md")
    tree.write("b/build/b.md")
    assert tree.paths() == []
    tree.write(".ignore", "!/build/\n")
    assert tree.paths() == [".ignore", "build/a.md"]


PATTERNS = st.lists(
    st.builds(
        "{}{}{}{}".format,
        st.sampled_from(["", "", "!"]),
        st.sampled_from(["", "/", "**/", "x/", "x/**/"]),
        st.sampled_from(["x", "y", "x*", "*.md", "?", "[xy]", "*", "x/y", "y.md", "**"]),
        st.sampled_from(["", "", "/", "/**", "/*"]),
    ),
    max_size=5,
)  # fmt: skip
PATHS = [
    f"{folder}{name}" for folder in ("", "x/", "y/", "x/y/", "y/x/", "x/y/x/", "y/y/y/")
    for name in ("x.md", "y.md", "xz.md")
]  # fmt: skip


@needs_git
@given(top=PATTERNS, inner=PATTERNS)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_ignore_files_count_as_git_reads_them(
    tmp_path_factory: pytest.TempPathFactory, top: list[str], inner: list[str]
) -> None:
    tree = Tree(tmp_path_factory.mktemp("git"))
    for path in PATHS:
        tree.write(path)
    tree.write(".gitignore", "\n".join(top))
    tree.write("x/.gitignore", "\n".join(inner))
    git = ["git", "-C", str(tree.top), "-c", "core.excludesFile=/nowhere"]
    subprocess.run([*git, "init", "-q"], check=True)
    command = [*git, "ls-files", "-z", "--others", "--exclude-standard"]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    assert tree.paths() == sorted(path for path in said.stdout.split("\0") if path)
    shutil.rmtree(tree.home)


def test_a_hostile_ignore_file_costs_no_time() -> None:
    rules = IgnoreRules().below("", ["\n".join(["*a" * 40 + "b", "**/a" * 60, "a*a*a*b"] * 500)])
    assert rules.reason("a" * 255 + ".md") is None


@pytest.mark.parametrize(
    ("change", "paths"),
    [
        (lambda tree: tree.write("a.md", "other"), (("a.md",), "changed")),
        (lambda tree: tree.write("in/new.md"), (("in/new.md",), "added")),
        (lambda tree: (tree.top / "a.md").unlink(), (("a.md",), "removed")),
        (lambda tree: tree.write(".gitignore", "a.*\n"), (("a.md",), "removed")),
        (lambda tree: shutil.rmtree(tree.top / "in"), (("in/b.md",), "removed")),
        (lambda tree: tree.write("big.txt", "small"), (("big.txt",), "added")),
        (lambda tree: (tree.top.parent / "far.md").write_text("x"), (("far.md",), "changed")),
    ],
    ids=["edited", "added", "removed", "ignored", "folder removed", "shrunk", "behind a link"],
)
def test_a_change_is_noticed_and_only_it_is_read_again(
    tree: Tree, change: Callable[[Tree], object], paths: tuple[tuple[str, ...], str]
) -> None:
    tree.write("a.md", "first")
    tree.write("in/b.md")
    tree.write("big.txt", "x" * 1_100_000)
    tree.write(".gitignore", "*.log\n")
    (tree.top.parent / "far.md").write_text("first")
    (tree.top / "far.md").symlink_to(tree.top.parent / "far.md")
    before = tree.read()
    assert tree.is_unchanged(before)
    change(tree)
    assert not tree.is_unchanged(before)
    after = tree.read(before)
    found = changes_of(digests_of(before), digests_of(after))
    assert getattr(found, paths[1]) == paths[0]
    assert digest(after) != digest(before)
    assert tree.is_unchanged(after)


def test_files_that_are_known_are_not_opened(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.write("a.md")
    tree.write("b.unknown", b"\0\1\2")
    before = tree.read()
    assert digests_of(before) == {"a.md": hashlib.sha256(b"words\n").hexdigest(), "b.unknown": ""}
    tree.write("c.md")
    opened: list[str] = []
    really = Policy.open_file

    def noting(policy: Policy, path: Path) -> object:
        opened.append(Path(path).name)
        return really(policy, path)

    monkeypatch.setattr(Policy, "open_file", noting)
    assert digest(tree.read(before)) != digest(before)
    assert opened == ["c.md"]


def test_a_change_as_recent_as_the_reading_is_not_trusted(tree: Tree) -> None:
    file = tree.write("a.md", "one")
    recent = tree.read(later=0)
    assert not tree.is_unchanged(recent)
    status = file.stat()
    file.write_text("two")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert digest(tree.read(recent)) != digest(recent)


def test_the_identity_is_of_contents_and_not_of_times(tree: Tree) -> None:
    file = tree.write("a.md")
    before = tree.read()
    os.utime(file, (1, 1))
    assert not tree.is_unchanged(before)
    assert digest(tree.read(before)) == digest(before)
