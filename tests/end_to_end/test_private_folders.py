"""Whatever command comes first, what it leaves behind is its user's alone."""

from __future__ import annotations

import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from installation import REPOSITORY

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
VR = f"{sys.executable} -m vr_kernel"
TALK = REPOSITORY / "src" / "video_research" / "talk.mp4"
LIBRARY = (
    "import asyncio; from vr_kernel import Kernel\n"
    "async def main():\n"
    "    async with Kernel.open() as vr: await vr.call('knowledge_stats')\n"
    "asyncio.run(main())"
)
QUICK = {
    "doctor": f"{VR} doctor",
    "knowledge stats": f"{VR} knowledge stats",
    "config trust": f"{VR} config trust .",
    "init": f"{VR} init --yes --client cursor --folder .",
    "serve": f"{VR} serve < /dev/null",
    "video create-session": f"{VR} video create-session {TALK}",
    "library": f'{sys.executable} -c "$LIBRARY"',
}
LONG = {
    "demo": f"{VR} demo",
    "video analyze": f"{VR} video analyze {TALK}",
    "video clip": f"{VR} video clip {TALK} --start 1 --end 3",
}


def open_to_others(home: Path) -> dict[str, str]:
    """Files below the program's folders that others may look into, with their permissions."""
    tops = [path for path in home.rglob("video-research") if path.is_dir()]
    found = [each for top in tops for each in (top, *top.rglob("*"))]
    modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in found if not path.is_symlink()}
    return {
        str(path.relative_to(home)): oct(mode)
        for path, mode in modes.items()
        if mode != (0o700 if path.is_dir() else 0o600)
    }


def run(command: str, environment: dict[str, str], folder: Path) -> int:
    """The exit code of a shell command under the umask that most systems have."""
    ran = subprocess.run(
        ["sh", "-c", f"umask 022; {command}"],
        env={**environment, "LIBRARY": LIBRARY},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "Traceback" not in ran.stderr, ran.stderr
    return ran.returncode


@pytest.mark.parametrize("command", QUICK.values(), ids=QUICK)
@pytest.mark.slow
def test_first_command_leaves_nothing_open(
    command: str, fresh_environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    environment = fresh_environment()
    run(command, environment, tmp_path)
    assert open_to_others(Path(environment["HOME"])) == {}


@pytest.mark.parametrize("command", LONG.values(), ids=LONG)
@pytest.mark.slow
def test_first_work_leaves_nothing_open(
    command: str, fresh_environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    environment = fresh_environment(VR_ALLOWED_ROOTS=str(TALK.parent))
    assert run(command, environment, tmp_path) == 0
    assert open_to_others(Path(environment["HOME"])) == {}


@pytest.mark.parametrize("command", ["knowledge stats", "cost", "clean --yes", "config show"])
@pytest.mark.slow
def test_what_an_older_version_left_open_is_taken_from_others(
    command: str, fresh_environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    environment = fresh_environment()
    home = Path(environment["HOME"])
    assert run(f"{VR} knowledge stats", environment, tmp_path) == 0
    deep = home / ".local" / "state" / "video-research" / "models" / "tiny" / "model.bin"
    deep.parent.mkdir(parents=True)
    deep.touch()
    for path in home.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    outside = tmp_path / "film.mp4"
    outside.touch(0o644)
    deep.with_name("link").symlink_to(outside)
    assert run(f"{VR} {command}", environment, tmp_path) == 0
    assert open_to_others(home) == {}
    assert outside.stat().st_mode & 0o777 == 0o644  # a link is not followed
