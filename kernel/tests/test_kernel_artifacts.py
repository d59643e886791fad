"""Files that tools produce: named by content, kept once, never half-written."""

from __future__ import annotations

import hashlib
import mimetypes
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vr_kernel import Kernel, VrError
from vr_kernel.files.artifacts import Artifacts

MIMES = sorted({*mimetypes.types_map.values(), *mimetypes.common_types.values()})


@pytest.fixture
def artifacts(tmp_path: Path) -> Artifacts:
    return Artifacts(tmp_path / "artifacts")


def test_what_was_added_is_found_by_its_address(artifacts: Artifacts) -> None:
    made = artifacts.add(b"a picture", "image/jpeg")
    digest = hashlib.sha256(b"a picture").hexdigest()
    assert made.uri == f"vr://artifacts/{digest}.jpg"
    assert made.path.read_bytes() == b"a picture"
    assert made.size == len(b"a picture")
    assert artifacts.find(made.uri.rpartition("/")[2]) == made


def test_a_copy_of_a_file_is_kept(artifacts: Artifacts, tmp_path: Path) -> None:
    source = tmp_path / "frame.png"
    source.write_bytes(b"pixels")
    made = artifacts.add(source, "image/png")
    source.unlink()
    assert made.path.read_bytes() == b"pixels"
    assert made.path.suffix == ".png"


def test_what_is_in_the_place_of_an_artifact_gives_way(
    artifacts: Artifacts, tmp_path: Path
) -> None:
    """A part that a power cut left, or a link; a folder is told."""
    path = artifacts.add(b"whole", "text/plain").path
    outside = tmp_path / "outside"
    outside.write_bytes(b"theirs")
    path.write_bytes(b"who")
    assert artifacts.add(b"whole", "text/plain").path.read_bytes() == b"whole"
    path.unlink()
    path.symlink_to(outside)
    assert artifacts.add(b"whole", "text/plain").path.read_bytes() == b"whole"
    assert (path.is_symlink(), outside.read_bytes()) == (False, b"theirs")
    path.unlink()
    path.mkdir()
    with pytest.raises(VrError) as caught:
        artifacts.add(b"whole", "text/plain")
    assert caught.value.code == "UNAVAILABLE"


def test_equal_content_is_one_file(artifacts: Artifacts) -> None:
    made = {artifacts.add(b"same", "text/plain") for _ in range(3)}
    assert len(made) == len(list(artifacts.folder.iterdir())) == 1


def test_every_type_can_be_found_again(artifacts: Artifacts) -> None:
    for mime in [*MIMES, "text/plain; charset=utf-8", "x/unknown", "", "../../x"]:
        made = artifacts.add(b"content", mime)
        assert made.path.parent == artifacts.folder
        assert artifacts.find(made.path.name).path == made.path


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../journal.db",
        "..%2Fjournal.db",
        "0" * 64,
        "0" * 64 + ".jpg",
        "0" * 64 + ".jpg\n",
        "0" * 64 + ".jpg/..",
        "/etc/passwd",
        "nul\0byte",
        "x" * 5000,
    ],
)
def test_nothing_else_is_found(artifacts: Artifacts, name: str) -> None:
    artifacts.add(b"content", "image/jpeg")
    (artifacts.folder / "journal.db").write_bytes(b"secret")
    with pytest.raises(VrError) as caught:
        artifacts.find(name)
    assert caught.value.code == "NOT_FOUND"
    assert caught.value.hint


@settings(max_examples=30)
@given(name=st.text(max_size=80))
def test_no_name_leads_out_of_the_folder(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    folder = tmp_path_factory.getbasetemp() / "no-name"
    with pytest.raises(VrError, match="No artifact"):
        Artifacts(folder).find(name)


def test_threads_that_add_the_same_leave_one_whole_file(artifacts: Artifacts) -> None:
    content = os.urandom(300_000)
    barrier = threading.Barrier(8)
    made = []

    def add() -> None:
        barrier.wait()
        made.append(artifacts.add(content, "application/json"))

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 1
    assert [path.read_bytes() for path in artifacts.folder.iterdir()] == [content]


def test_a_folder_that_cannot_be_written_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(VrError) as caught:
        Artifacts(tmp_path / "file" / "artifacts").add(b"content", "text/plain")
    assert (caught.value.code, caught.value.category) == ("UNAVAILABLE", "STATE_UNAVAILABLE")
    assert str(tmp_path / "file") in caught.value.hint


FULL_DISK = """
import pathlib, resource, sys
from vr_kernel.files.artifacts import Artifacts
from vr_kernel.errors import VrError

artifacts = Artifacts(pathlib.Path(sys.argv[1]))
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
try:
    artifacts.add(b"x" * 500_000, "text/plain")
except VrError as error:
    print(error.code)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
print(artifacts.add(b"x" * 500_000, "text/plain").path.stat().st_size)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file size limit to set")
def test_a_full_disk_leaves_no_part_of_a_file(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-B", "-c", FULL_DISK, str(tmp_path / "artifacts")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["UNAVAILABLE", "500000"]
    assert len(list((tmp_path / "artifacts").iterdir())) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits")
def test_only_the_owner_may_look_into_the_folder(artifacts: Artifacts) -> None:
    made = artifacts.add(b"content", "text/plain")
    assert artifacts.folder.stat().st_mode & 0o077 == 0
    assert made.path.stat().st_mode & 0o077 == 0


async def test_a_kernel_may_read_what_it_made(start: Any) -> None:
    kernel: Kernel = await start()
    made = kernel.services.artifacts.add(b"content", "text/plain")
    with kernel.services.policy.open_file(made.path) as file:
        assert file.read() == b"content"
