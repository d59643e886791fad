"""`-o FILE` and `--open`: checked before anything is paid, written whole, under readable names."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from command_fork import FreshVr
from plugin_zoo import Zoo, vr_command
from typed_terminal import shown_at
from zoo_animals import GALLERY

ON_POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX alone")


@pytest.fixture
def zoo(tmp_path: Path) -> Zoo:
    """The gallery."""
    return Zoo(tmp_path / "zoo").add(GALLERY)


@pytest.fixture
def vr(zoo: Zoo) -> FreshVr:
    """Runs `vr` without a terminal, where pages can be made."""
    return FreshVr(zoo.environment(VR_PLUGINS="gallery,pages"), zoo.work)


def calls(vr: FreshVr) -> int:
    """Calls of `gallery_make` so far."""
    counted = vr.folder / "calls"
    return len(counted.read_text("utf-8")) if counted.exists() else 0


def left_over(vr: FreshVr) -> list[str]:
    """Files that were begun and not removed."""
    return [path.name for path in vr.folder.iterdir() if path.name.endswith(".part")]


def test_the_ending_says_what_is_written(vr: FreshVr) -> None:
    pytest.importorskip("vr_pages")
    for name in ("a.md", "a.txt", "a.json", "a.html"):
        ended = vr.run("gallery", "all", "--text", "Words.", "-o", name)
        assert (ended.code, ended.stdout) == (0, f"{name}\n"), ended
    assert (vr.folder / "a.md").read_text("utf-8").startswith("# Words.\n")
    assert (vr.folder / "a.txt").read_text("utf-8").startswith("Words.\n======\n")
    assert (vr.folder / "a.html").read_text("utf-8").startswith("<!")
    shown = vr.run("gallery", "all", "--text", "Words.", "--json").stdout
    assert (vr.folder / "a.json").read_text("utf-8") == shown
    if sys.platform != "win32":
        assert stat.S_IMODE((vr.folder / "a.md").stat().st_mode) == 0o600


def test_json_is_printed_beside_the_file(vr: FreshVr) -> None:
    ended = vr.run("gallery", "all", "-o", "a.md", "--json")
    assert json.loads(ended.stdout)["text"]
    assert (vr.folder / "a.md").exists()


def test_a_file_of_the_tool_is_copied_and_its_format_is_the_ending(vr: FreshVr) -> None:
    ended = vr.run("gallery", "make", "-o", "song.gif")
    assert (ended.code, ended.stdout) == (0, "song.gif\n")
    song = vr.folder / "song.gif"
    assert song.read_bytes() == b"gif" * 9
    assert not song.is_symlink()
    (kept,) = (vr.folder.parent / "state" / "artifacts").glob("*.gif")
    assert not song.samefile(kept)
    hint = vr.run("gallery", "make").stdout
    assert "27 bytes mp3" in hint


def test_a_tool_that_makes_files_alone_makes_the_file_of_any_ending(vr: FreshVr) -> None:
    assert vr.run("gallery", "write", "-o", "a.json").code == 0
    assert json.loads((vr.folder / "a.json").read_text("utf-8")) == {"made": "whole"}
    refused = vr.run("gallery", "write", "-o", "a.txt")
    assert (refused.code, refused.stderr.splitlines()[-1]) == (2, "Hint: Possible here: .gif .json")
    assert not (vr.folder / "a.txt").exists()


def test_a_document_is_kept_as_a_pipe_gets_it(vr: FreshVr) -> None:
    vr.run("gallery", "document", "-o", "a.txt")
    piped = vr.run("gallery", "document", "--format", "text")
    for more in ([], ["--format", "text"]):
        kept = vr.run("gallery", "document", *more, "--cursor", "b3", "-o", "a.txt", "--force")
        assert (vr.folder / "a.txt").read_text("utf-8") == piped.stdout == "Hello\n"
        assert "--cursor b3` goes on." in kept.stderr
    named = vr.run("gallery", "document", "--format", "json", "-o", "a.json")
    assert (named.code, (vr.folder / "a.json").read_text("utf-8")) == (0, '["Hello"]\n')
    vr.run("gallery", "document", "-o", "b.json")
    shown = vr.run("gallery", "document", "--json")
    assert (vr.folder / "b.json").read_text("utf-8") == shown.stdout


def test_the_endings_are_those_of_the_files_that_are_made(vr: FreshVr) -> None:
    assert vr.run("gallery", "document", "-o", "a.mmd").code == 0
    assert (vr.folder / "a.mmd").read_text("utf-8") == "graph LR\n"
    for name in ("a.mermaid", "a.segments"):
        refused = vr.run("gallery", "document", "-o", name)
        assert refused.stderr.endswith(": .md .html .json .txt .mmd .srt\n"), refused
    shape = vr.run("gallery", "document", "--format", "segments", "-o", "a.srt")
    assert (shape.code, "Hint: Leave --format out.\n" in shape.stderr) == (2, True)
    other = vr.run("gallery", "document", "--format", "srt", "-o", "a.txt")
    assert (other.code, "name a file with .srt" in other.stderr) == (2, True)
    assert not (vr.folder / "a.txt").exists()


def test_a_view_is_written_where_the_tool_made_no_file(vr: FreshVr) -> None:
    pytest.importorskip("vr_pages")
    ended = vr.run("gallery", "document", "--cursor", "b3", "-o", "a.html")
    assert (ended.code, ended.stdout) == (0, "a.html\n"), ended
    assert "--cursor b3` goes on." in ended.stderr
    assert "A document" in (vr.folder / "a.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("named", "code", "words"),
    [
        ("there", 2, "Name a file in it: -o there/gallery-make.md"),
        ("missing/a.md", 2, "mkdir -p"),
        ("a.docx", 2, ".gif"),
        ("plain", 2, "has no ending"),
        ("old.md", 1, "--force"),
        ("a.md/b.md", 2, "a.md is a file, not a folder."),
        ("a.md/b/c.md", 2, "a.md is a file, not a folder."),
        ("a\x07.exe", 2, "cannot end with .exe"),
        ("x" * 300 + ".md", 2, "cannot be the name of a file: file name too long."),
        ("a.mp3", 2, "--format is gif"),
    ],
)
def test_a_file_that_cannot_be_is_refused_before_the_call(
    named: str, code: int, words: str, vr: FreshVr
) -> None:
    (vr.folder / "there").mkdir()
    for name in ("old.md", "a.md"):
        (vr.folder / name).write_text("kept", "utf-8")
    more = ["--format", "gif"] if named == "a.mp3" else []
    ended = vr.run("gallery", "make", *more, "-o", named)
    assert ended.code == code, ended
    assert words in ended.stderr.replace("\n", " ")
    assert "\x07" not in ended.stderr
    assert (ended.stdout, calls(vr), left_over(vr)) == ("", 0, [])
    assert (vr.folder / "old.md").read_text("utf-8") == "kept"


def test_a_page_needs_what_makes_pages_before_the_call(zoo: Zoo) -> None:
    vr = FreshVr(zoo.environment(), zoo.work)
    for wanted in (["-o", "a.html"], ["--open"]):
        ended = vr.run("gallery", "make", *wanted)
        assert ended.code == 1
        assert "vr-pages" in ended.stderr
    assert calls(vr) == 0


def test_several_sources_have_no_place_in_one_file(vr: FreshVr) -> None:
    ended = vr.run("call", "gallery_make", "-o", "there/")
    assert "There is no folder" in ended.stderr or "is a folder" in ended.stderr
    assert calls(vr) == 0


def test_force_replaces_and_a_link_stays_a_link(vr: FreshVr) -> None:
    old = vr.folder / "old.md"
    old.write_text("kept", "utf-8")
    assert vr.run("gallery", "make", "-o", "old.md", "--force").code == 0
    assert "made" in old.read_text("utf-8")
    if sys.platform != "win32":
        (vr.folder / "link.md").symlink_to(old)
        assert vr.run("gallery", "all", "-o", "link.md", "--force").code == 0
        assert (vr.folder / "link.md").is_symlink()
        assert "made" not in old.read_text("utf-8")


@ON_POSIX
def test_the_ending_is_that_of_the_name_as_it_was_given(vr: FreshVr) -> None:
    pytest.importorskip("vr_pages")
    (vr.folder / "null.html").symlink_to("/dev/null")
    refused = vr.run("gallery", "all", "-o", "null.html", "--force")
    assert "null.html is no plain file." in refused.stderr
    (vr.folder / "link.html").symlink_to("target.md")
    assert vr.run("gallery", "all", "-o", "link.html", "--force").code == 0
    assert (vr.folder / "target.md").read_text("utf-8").startswith("<!")


def test_a_folder_is_answered_by_a_file_with_the_ending_of_its_name(vr: FreshVr) -> None:
    (vr.folder / "d.txt").mkdir()
    refused = vr.run("gallery", "make", "-o", "d.txt")
    assert f"-o {Path('d.txt', 'gallery-make.txt')}" in refused.stderr.replace("\n", " ")


@ON_POSIX
def test_a_link_that_leads_nowhere_is_there_and_is_asked_about(vr: FreshVr) -> None:
    link, target = vr.folder / "link.md", vr.folder / "target.md"
    link.symlink_to(target)
    refused = vr.run("gallery", "make", "-o", "link.md")
    assert (refused.code, calls(vr), target.exists()) == (1, 0, False)
    assert "link.md exists." in refused.stderr
    assert vr.run("gallery", "make", "-o", "link.md", "--force").code == 0
    assert (link.is_symlink(), target.is_file()) == (True, True)


@ON_POSIX
def test_a_pipe_gets_the_path_as_it_is(vr: FreshVr) -> None:
    name = "a\u200b  b\x1b[1m.md"
    command = 'cat "$("$@" gallery all -o "$NAME" --force)"'
    done = subprocess.run(
        ["sh", "-c", command, "sh", *vr_command()],
        env=vr.environment | {"NAME": name},
        cwd=vr.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == (vr.folder / name).read_text("utf-8")
    assert "\x1b" not in vr.run("gallery", "all", "-o", name).stderr


@ON_POSIX
@pytest.mark.parametrize(("typed", "code", "count"), [("y\n", 0, 1), ("n\n", 130, 0)])
def test_a_terminal_is_asked(typed: str, code: int, count: int, zoo: Zoo, vr: FreshVr) -> None:
    (vr.folder / "old.md").write_text("kept", "utf-8")
    ended = shown_at(zoo, 80, "gallery", "make", "-o", "old.md", typed=typed)
    assert "old.md exists. Replace it?" in ended.stdout
    assert (ended.code, calls(vr)) == (code, count)
    assert ((vr.folder / "old.md").read_text("utf-8") == "kept") is (count == 0)


@ON_POSIX
def test_a_full_disk_costs_neither_the_result_nor_the_old_file(vr: FreshVr) -> None:
    old = vr.folder / "old.md"
    old.write_text("kept", "utf-8")
    words = ["gallery", "all", "--text", "x" * 30_000, "-o", "old.md", "--force"]
    line = 'ulimit -f 4000; exec "$@"'  # as a full disk, but for large files alone
    done = subprocess.run(
        ["sh", "-c", line, "sh", *vr_command(*words)],
        env=vr.environment, cwd=vr.folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "old.md could not be written: File too large." in done.stderr
    assert "More: " in done.stdout
    assert (old.read_text("utf-8"), left_over(vr)) == ("kept", [])


@ON_POSIX
def test_a_page_opens_in_the_browser(vr: FreshVr) -> None:
    pytest.importorskip("vr_pages")
    vr.environment["BROWSER"] = "sh -c 'echo %s > opened'"
    vr.environment.pop("SSH_CONNECTION", None)
    ended = vr.run("gallery", "all", "--text", "Vector: search?", "--open")
    assert (ended.code, ended.stdout) == (0, ""), ended
    opened = (vr.folder / "opened").read_text("utf-8").strip()
    assert opened.startswith("file:///")
    assert opened.endswith("/cache/pages/vector-search.html#t=93.5")
    page = vr.folder.parent / "cache" / "pages" / "vector-search.html"
    assert "Vector: search?" in page.read_text("utf-8")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
    moment = {"title": "A moment", "blocks": [{"block": "Media", "source": "a.mp4", "start": 47.5}]}
    (vr.folder / "moment.json").write_text(json.dumps(moment), "utf-8")
    assert vr.run("show", "moment.json", "--open").code == 0
    assert (vr.folder / "opened").read_text("utf-8").strip().endswith("a-moment.html#t=47.5")
    assert vr.run("clean", "--cache", "--yes").code == 0
    assert not page.exists()


def test_without_a_browser_the_path_is_printed(vr: FreshVr) -> None:
    pytest.importorskip("vr_pages")
    vr.environment["SSH_CONNECTION"] = "1.2.3.4 5 6.7.8.9 22"
    ended = vr.run("gallery", "all", "--text", "Words", "--open")
    assert ended.code == 0
    assert Path(ended.stdout.strip()).read_text("utf-8").startswith("<!")
    assert ended.stderr == ""


@ON_POSIX
def test_a_terminal_hears_that_no_browser_opened(zoo: Zoo) -> None:
    pytest.importorskip("vr_pages")
    settings = {"VR_PLUGINS": "gallery,pages", "SSH_CONNECTION": "1.2.3.4 5 6.7.8.9 22"}
    ended = shown_at(zoo, 200, "gallery", "all", "--text", "Words", "--open", **settings)
    remark, _, path = ended.stdout.rstrip().rpartition("\n")
    assert remark.endswith("No browser could be opened here. This is the page:")
    assert Path(path).is_file()
