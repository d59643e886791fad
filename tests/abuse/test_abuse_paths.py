"""Every argument that names a file, against every way to name one that must not be read."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from abuse_bench import CANARY, Bench
from tool_arguments import CLIP, Argument, Kind, of_kind
from vr_kernel import Code

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.parametrize("argument", of_kind(Kind.PATH, Kind.FOLDER), ids=str),
]
REFUSALS = (Code.NOT_ALLOWED, Code.INVALID_INPUT, Code.NOT_FOUND, Code.UNSUPPORTED)
OUTSIDE = (Code.NOT_ALLOWED,)
NO_PATH = (Code.INVALID_INPUT,)
PLACES = [
    "/etc/passwd", "/etc/passwd/", "//etc/passwd", "/etc/../etc/passwd", "/", "/home", "/proc",
    "/proc/self/environ", "/proc/self/fd/0", "/proc/1/root/etc/passwd",
    "/dev/zero", "/dev/stdin", "/dev/null", "/dev/fd/0", "/sys/kernel/uevent_seqnum",
    "..", "../", "../..", "../../../../../../../../etc/passwd", "./../x", f"../{CANARY}",
    f"../{CANARY}/{CANARY}.mp4", f"x/../../{CANARY}/{CANARY}.mp4",
    f"folder.mp4/../../{CANARY}/{CANARY}.txt", f"../root-evil/{CANARY}.mp4",
    "link.mp4", f"link/{CANARY}.mp4", f"link/../{CANARY}/{CANARY}.mp4", "link", "link/",
    "dangling.mp4", "zero.mp4", "environ.mp4", "pipe.mp4",
]  # fmt: skip
ODD = [
    "", " ", "\t", ".", "folder.mp4", "folder.mp4/", "loop.mp4", f"{CLIP}/x",
    f"{CLIP}\0.txt", f"{CLIP}\0", "\0", f"{CLIP}\n", f"{CLIP}\r\n", f"\n{CLIP}", "a\r\nb.mp4",
    "a" * 5000, f"{'a' * 5000}.mp4", f"{'a' * 300}.mp4", "a/" * 2400, "../" * 1300,
    "\u202e4pm.pilc", f"\u200b{CLIP}", "cl\u200bip.mp4", f"\ufeff{CLIP}", f"{CLIP}\u2066",
    "\U000e0063\U000e006clip.mp4", "\x1b[31mclip.mp4\x1b[0m", "\x9b31mclip.mp4", "\x07.mp4",
    "\ud800.mp4", "\udcff.mp4", unicodedata.normalize("NFD", "\u00e9t\u00e9.mp4"),
    "C:\\Windows\\win.ini", "C:/Windows/win.ini", "C:clip.mp4", "\\\\host\\share\\clip.mp4",
    "//host/share/clip.mp4", "\\\\?\\C:\\clip.mp4", "\\\\.\\pipe\\x", "CON", "NUL.mp4", "COM1",
    f"{CLIP}:stream", f"{CLIP}::$DATA", "a\\..\\..\\b.mp4", "..\\..\\clip.mp4",
    "-", "-i", "--help", "-rf.mp4", "--output=x.mp4", "@clip.mp4", "|id", "$(id).mp4", "`id`",
    ";id", "clip.mp4;id", "%2e%2e/clip.mp4", "..%2f..%2fetc%2fpasswd", "~nobody-at-all/clip.mp4",
    "~\0/x", "$HOME/clip.mp4", "${HOME}/clip.mp4", "%USERPROFILE%\\clip.mp4",
    "*", "*.mp4", "**", "**/*", "?lip.mp4", "[c]lip.mp4", "{clip,x}.mp4", "[", "[!]", "***",
    "http://example.com/clip.mp4", "https://127.0.0.1/clip.mp4", "concat:clip.mp4|clip.mp4",
    "pipe:0", "fd:0", "data:video/mp4;base64,AAAA", "subfile,,start,0,end,9,,:clip.mp4",
    "lavfi:testsrc", "tcp://127.0.0.1:1", "smb://host/x.mp4", "crypto:clip.mp4",
]  # fmt: skip
HERE = (".", "folder.mp4", "folder.mp4/")
"""Folders that may be read."""
GLOBS = ["../*", "../../*.txt", "../../**", "/**", "/*", "/etc/*", "link/*", f"../{CANARY}/*"]


async def test_places_that_are_not_read(bench: Bench, argument: Argument) -> None:
    # A pipe lies inside, and is no folder.
    codes = (*OUTSIDE, Code.INVALID_INPUT) if argument.kind is Kind.FOLDER else OUTSIDE
    for place in PLACES:
        await bench.abuse(argument, argument.given(place), codes)
    for name in (".mp4", ".txt"):
        for folder in (bench.outside, bench.inside.with_name("root-evil"), bench.inside / "link"):
            path = folder / f"{CANARY}{name}"
            await bench.abuse(argument, argument.given(str(path)), OUTSIDE)
    bench.verdict()


async def test_the_home_folder(bench: Bench, argument: Argument) -> None:
    for path in ("~", "~/", "~/.ssh/id_rsa", "~root/.ssh/id_rsa", "~/../../etc/passwd"):
        await bench.abuse(argument, argument.given(path), OUTSIDE)
    bench.verdict()


async def test_addresses_of_files(bench: Bench, argument: Argument) -> None:
    inside = (bench.inside / CLIP).as_uri()
    for address in ("file:///etc/passwd", "file://localhost/etc/passwd", inside, "file:clip.mp4"):
        await bench.abuse(argument, argument.given(address), REFUSALS)
    for address in ("FILE:///etc/passwd", "File:///dev/zero"):
        await bench.abuse(argument, argument.given(address), REFUSALS)
    bench.verdict()


async def test_names_that_no_file_bears(bench: Bench, argument: Argument) -> None:
    folder = argument.kind is Kind.FOLDER or argument.tool.startswith("content_")
    names = [n for n in ODD if n not in HERE] if folder else ODD
    if argument.is_list and folder:  # it takes addresses, too
        names = [n for n in names if not n.startswith("http://")]
    for name in names:
        await bench.abuse(argument, argument.given(name), REFUSALS)
    bench.verdict()


async def test_patterns_that_lead_outside(bench: Bench, argument: Argument) -> None:
    for pattern in GLOBS:
        await bench.abuse(argument, argument.given(pattern), REFUSALS)
    bench.verdict()


async def test_roundabout_ways_to_what_may_be_read(bench: Bench, argument: Argument) -> None:
    for path in (f"/proc/self/cwd/{CLIP}", f"{CLIP}/", f"link/../root/{CLIP}", f"../root/{CLIP}"):
        await bench.abuse(argument, argument.given(path))
    bench.verdict()


@pytest.fixture(scope="module")
def linked(inside: Path) -> Path:
    """A clip whose captions of every name are a file of the outside."""
    clip = inside / "linked.mp4"
    clip.write_bytes((inside / CLIP).read_bytes())
    for suffix in (".srt", ".vtt", ".en.srt", ".txt", ".json"):
        clip.with_suffix(suffix).symlink_to(inside.with_name(CANARY) / f"{CANARY}.txt")
    return clip


async def test_captions_that_lead_outside(bench: Bench, argument: Argument, linked: Path) -> None:
    await bench.abuse(argument, argument.given(str(linked)))
    bench.verdict()
