"""`vr plugin new`: a project that is green from the start, or a clear error and no trace."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from command_host import CommandHost
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from plugin_zoo import Zoo, vr_command
from vr_cli.scaffold import check_name, make_project, project_files
from vr_kernel.errors import Code, VrError
from vr_kernel.loading.compatibility import kernel_range, next_break
from vr_kernel.loading.loader import RESERVED_DOMAINS
from vr_kernel.version import VERSION
from zoo_animals import GOOD

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and limits of Linux")
LONGEST = "a" * 20 + "-" + "b" * 19


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    return Zoo(tmp_path_factory.mktemp("zoo")).add(GOOD)


@pytest.fixture(scope="module")
def vr(zoo):
    host = CommandHost(zoo.environment(), zoo.work)
    yield host
    host.close()


@pytest.mark.parametrize("name", ["weather", "air-quality", "a1", "mp3-to-text-2", LONGEST])
def test_a_good_name_is_taken(name):
    check_name(name, {"zoo"}, {"vr-plugin-video"})


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "Use 2 to 40"),
        ("a", "Use 2 to 40"),
        ("a" * 41, "Try"),
        ("Weather", "Try 'weather'"),
        ("air_quality", "Try 'air-quality'"),
        ("air--quality", "Try 'air-quality'"),
        ("-sky", "Try 'sky'"),
        ("3d-print", "Try 'd-print'"),
        ("vr-plugin-sky", "Try 'sky'"),
        ("../../evil", "Try 'evil'"),
        ("sky\n", "Try 'sky'"),
        ("größe", "beginning with a letter"),
        ("class", "Python"),
        ("video", "taken by vr-plugin-video"),
        ("minilm", "taken by vr-minilm"),
        ("models", "taken by the kernel"),
        ("zoo", "installed"),
        *((name, "vr itself") for name in sorted(RESERVED_DOMAINS - {"store"})),
        ("do-ctor", "vr itself"),
    ],
)
def test_a_bad_name_is_refused_with_what_to_do(name, said):
    with pytest.raises(VrError) as caught:
        check_name(name, {"zoo"}, {"vr-plugin-video", "vr-minilm", "vr-plugin"})
    assert caught.value.code is Code.INVALID_INPUT
    assert said in f"{caught.value.message} {caught.value.hint}"


@given(name=st.text(max_size=50))
def test_what_is_proposed_is_another_name_of_good_form(name):
    refusal = refuse(name)
    if refusal is not None and "Try '" in refusal.hint:
        proposal = refusal.hint.split("'")[1]
        second = refuse(proposal)
        assert proposal != name
        assert second is None or "is no name" not in second.message


def refuse(name: str) -> VrError | None:
    """The error about a name, None when it is taken."""
    try:
        check_name(name)
    except VrError as error:
        return error
    return None


@pytest.mark.parametrize("name", ["sky", "air-quality"])
def test_no_blank_is_left_open(name):
    texts = {str(path): text for path, text in project_files(name)}
    package = f"vr_plugin_{name.replace('-', '_')}"
    assert texts.keys() >= {
        "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", ".gitignore",
        ".github/workflows/test.yml", f"src/{package}/py.typed", f"src/{package}/plugin.py",
    }  # fmt: skip
    assert not [path for path, text in texts.items() if "@@" in text or "@@" in path]
    assert "${{ matrix.python }}" in texts[".github/workflows/test.yml"]


def test_the_project_names_its_plugin_and_caps_the_kernel():
    project = tomllib.loads(dict(_texts("air-quality"))["pyproject.toml"])["project"]
    assert project["name"] == "vr-plugin-air-quality"
    assert project["entry-points"] == {
        "vr.plugins": {"air-quality": "vr_plugin_air_quality.plugin"}
    }
    (kernel,) = [r for r in map(Requirement, project["dependencies"]) if r.name == "vr-kernel"]
    assert VERSION in kernel.specifier
    assert next_break(VERSION) not in kernel.specifier


@pytest.mark.parametrize(
    ("version", "wanted"),
    [
        ("0.1.0", ">=0.1,<0.2"),
        ("0.9.12", ">=0.9,<0.10"),
        ("1.4.2", ">=1.4,<2"),
        ("2.0", ">=2.0,<3"),
    ],
)
def test_the_range_ends_where_a_kernel_may_break(version, wanted):
    assert kernel_range(version) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sky", LONGEST])
def test_its_own_tests_pass(name, tmp_path):
    project = make_project(name, tmp_path)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-W",
            "error",
            str(project),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_command_says_what_comes_next(vr, zoo):
    ended = vr.run("plugin", "new", "sky")
    assert (ended.code, ended.stderr) == (0, "")
    commands = [line.strip() for line in ended.stdout.splitlines() if line.startswith("  ")]
    assert commands == [
        "cd vr-plugin-sky",
        'pip install -e ".[dev]"',
        "pytest && vr plugin check .",
    ]
    assert (zoo.work / "vr-plugin-sky" / "pyproject.toml").is_file()


def test_the_name_of_an_installed_plugin_is_refused(vr, zoo):
    ended = vr.run("plugin", "new", "zoo")
    assert ended.code == 2
    assert "installed" in ended.stderr
    assert not (zoo.work / "vr-plugin-zoo").exists()


def test_a_folder_that_exists_is_left_alone(vr, tmp_path):
    before = make_project("sky", tmp_path) / "mine.txt"
    before.write_text("precious", "utf-8")
    ended = vr.run("plugin", "new", "sky", "--folder", str(tmp_path))
    assert ended.code == 2
    assert "exists already" in ended.stderr
    assert before.read_text("utf-8") == "precious"
    assert names_in(tmp_path) == ["vr-plugin-sky"]


@pytest.mark.parametrize("kind", ["empty folder", "file", "dangling link"])
def test_whatever_bears_its_name_is_left_alone(kind, tmp_path):
    target = tmp_path / "vr-plugin-sky"
    if kind == "empty folder":
        target.mkdir()
    elif kind == "file":
        target.touch()
    else:
        target.symlink_to(tmp_path / "nowhere")
    with pytest.raises(VrError) as caught:
        make_project("sky", tmp_path)
    assert caught.value.category == "PROJECT_EXISTS"
    assert names_in(tmp_path) == ["vr-plugin-sky"]


def test_a_parent_that_is_no_folder_is_refused(tmp_path):
    for parent in (tmp_path / "nowhere", Path(__file__)):
        with pytest.raises(VrError) as caught:
            make_project("sky", parent)
        assert caught.value.code is Code.INVALID_INPUT


@linux
def test_a_parent_that_cannot_be_written_is_an_error_of_its_own():
    with pytest.raises(VrError) as caught:
        make_project("sky", Path("/proc"))
    assert caught.value.code is Code.NOT_ALLOWED
    assert "--folder" in caught.value.hint


@linux
def test_nothing_half_written_stays(zoo, tmp_path):
    """The disk takes no file above 1,000 bytes: some of the project's are longer."""
    import resource

    # Python 3.11 keeps a module's bytecode even when the limit has cut it short.
    unwritten = {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        vr_command("plugin", "new", "sky", "--folder", str(tmp_path)),
        env=zoo.environment() | unwritten,
        cwd=zoo.work,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert names_in(tmp_path) == []


def names_in(folder: Path) -> list[str]:
    """Names in a folder, of hidden files, too."""
    return [path.name for path in folder.iterdir()]


def _texts(name: str) -> list[tuple[str, str]]:
    return [(str(path), text) for path, text in project_files(name)]
