"""`vr show FILE.json` of what is no file that `-o` wrote: told in plain words, never waited for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from command_fork import FreshVr
from plugin_zoo import Zoo
from zoo_animals import GALLERY


@pytest.fixture(scope="module")
def vr(tmp_path_factory: pytest.TempPathFactory) -> FreshVr:
    """Nothing is known here."""
    zoo = Zoo(tmp_path_factory.mktemp("zoo")).add(GALLERY)
    return FreshVr(zoo.environment(), zoo.work)


def refused(vr: FreshVr, *named: str) -> str:
    """The error about what is named, on one line and with a hint."""
    ended = vr.run("show", *named)
    assert (ended.code, ended.stdout) == (2, ""), ended
    said = " ".join(ended.stderr.split())
    assert "Hint: " in said
    return said


def test_a_mark_of_the_byte_order_is_read_over(vr: FreshVr) -> None:
    (vr.folder / "marked.json").write_bytes(b'\xef\xbb\xbf{"title": "Marked", "blocks": []}')
    assert vr.run("show", "marked.json").stdout.startswith("Marked\n")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty."),
        (b" \n", "is empty."),
        ("{}".encode("utf-16"), "is not in UTF-8. Hint: Let `-o FILE.json` write it"),
        (b'{\n"a" 1}', "is no JSON: its first fault is at line 2, column 5."),
        (b"[" * 200_000, "is nested too deeply."),
        (b"[" + b"1" * 5000 + b"]", "has a number with too many digits."),
    ],
)
def test_a_file_that_is_no_json_is_told_apart(content: bytes, said: str, vr: FreshVr) -> None:
    (vr.folder / "odd.json").write_bytes(content)
    assert f"Error: odd.json {said}" in refused(vr, "odd.json")


def test_a_folder_is_called_one(vr: FreshVr) -> None:
    (vr.folder / "folder.json").mkdir()
    assert "folder.json is a folder." in refused(vr, "folder.json")
    named = str(Path(vr.folder) / "folder.json")
    assert "is a folder." in refused(vr, named)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX alone")
def test_pipes_devices_and_links_to_nothing_are_not_read(vr: FreshVr) -> None:
    os.mkfifo(vr.folder / "pipe.json")
    (vr.folder / "zero.json").symlink_to("/dev/zero")
    (vr.folder / "gone.json").symlink_to("missing")
    assert "pipe.json is a pipe, no plain file." in refused(vr, "pipe.json")
    assert "zero.json is a device, no plain file." in refused(vr, "zero.json")
    assert "gone.json is a link that leads nowhere." in refused(vr, "gone.json")
