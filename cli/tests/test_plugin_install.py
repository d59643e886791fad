"""`vr plugin install`, `uninstall` and `show`: shown first, never by itself, by pip or uv."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest
from command_fork import run_vr
from command_host import Ended
from plugin_zoo import Animal, Zoo
from vr_cli.installing import Environment, distribution_of
from vr_kernel.errors import Code, VrError
from zoo_animals import GOOD, with_tool

OTHER = Animal("other", with_tool("other_go"))
SHIM = """
import json, pathlib, sys
pathlib.Path(r"{record}").write_text(json.dumps(sys.argv[1:]))
sys.exit({code})
"""


@pytest.fixture
def zoo(tmp_path: Path) -> Zoo:
    """Two good plugins, for one test."""
    return Zoo(tmp_path / "zoo").add(GOOD, OTHER)


@pytest.fixture
def own(tmp_path: Path) -> Environment:
    """A virtual environment that is anybody's own."""
    return Environment(tmp_path / "env", tmp_path / "lib", "/env/bin/python", virtual=True)


def vr(zoo: Zoo, *arguments: str) -> Ended:
    """Run `vr` as a process that nobody can be asked at."""
    return run_vr(zoo.environment(), zoo.work, "plugin", *arguments)


def with_pip(zoo: Zoo, code: int = 0) -> Path:
    """Put a pip before the real one that only writes down what it is asked; the file of that."""
    record = zoo.folder / "asked.json"
    folder = zoo.packages / "pip"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "__main__.py").write_text(SHIM.format(record=record, code=code), "utf-8")
    return record


def test_the_command_is_shown_and_nothing_is_done_unasked(zoo: Zoo) -> None:
    record = with_pip(zoo)
    done = vr(zoo, "install", "weather")
    assert done.code == 2
    assert f"This will run:\n  {sys.executable} -m pip install vr-plugin-weather\n" in done.stderr
    assert "Add --yes" in done.stderr
    assert not record.exists()


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        (["install", "weather"], ["install", "vr-plugin-weather"]),
        (["install", "weather", "--exact"], ["install", "weather"]),
        (["uninstall", "other"], ["uninstall", "--yes", "vr-plugin-other"]),
        (["uninstall", "vr-plugin-other"], ["uninstall", "--yes", "vr-plugin-other"]),
    ],
)
def test_what_was_agreed_to_is_run(arguments: list[str], asked: list[str], zoo: Zoo) -> None:
    record = with_pip(zoo)
    done = vr(zoo, *arguments, "--yes")
    assert done.code == 0, done.stderr
    assert json.loads(record.read_text("utf-8")) == asked


def test_a_command_that_fails_is_a_failure(zoo: Zoo) -> None:
    with_pip(zoo, code=3)
    assert vr(zoo, "install", "weather", "--yes").code == 1


def without_pip(folder: Path, *, with_uv: bool) -> Path:
    """An environment made by uv, with all that this one has but pip; its Python."""
    uv = Path(sysconfig.get_path("scripts"), "uv")
    python = Path(sysconfig.get_path("scripts", vars={"base": str(folder)}), "python")
    made = [str(uv), "venv", "--offline", "--quiet", "--python", sys.executable, str(folder)]
    subprocess.run(made, check=True)
    library = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    left_out = {"pip"} if with_uv else {"pip", "uv"}
    for each in Path(sysconfig.get_path("purelib")).iterdir():
        taken = each.name.partition("-")[0] in left_out or (library / each.name).exists()
        if not taken:
            (library / each.name).symlink_to(each)
    if with_uv:
        python.with_name("uv").symlink_to(uv)
    return python


def made_wheel(folder: Path) -> Path:
    """The wheel of a plugin that needs nothing."""
    name, metadata = "vr_plugin_owls-1.0", "vr_plugin_owls-1.0.dist-info"
    files = {
        "vr_plugin_owls.py": OTHER.source,
        f"{metadata}/METADATA": "Metadata-Version: 2.1\nName: vr-plugin-owls\nVersion: 1.0\n",
        f"{metadata}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{metadata}/entry_points.txt": "[vr.plugins]\nowls = vr_plugin_owls\n",
    }
    listed = "".join(f"{file},,\n" for file in [*files, f"{metadata}/RECORD"])
    wheel = folder / f"{name}-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        for file, text in {**files, f"{metadata}/RECORD": listed}.items():
            archive.writestr(file, text)
    return wheel


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="links")
@pytest.mark.parametrize("with_uv", [True, False], ids=["uv-within", "uv-beside"])
def test_where_uv_made_the_environment_it_installs(with_uv: bool, tmp_path: Path) -> None:
    pytest.importorskip("uv")
    zoo = Zoo(tmp_path / "zoo")
    wheel = made_wheel(tmp_path)
    python = without_pip(tmp_path / "env", with_uv=with_uv)
    scripts = sysconfig.get_path("scripts")
    variables = {
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "VR_PLUGINS": "owls",
        "UV_OFFLINE": "1",
        "UV_CACHE_DIR": str(tmp_path / "uv"),
    }

    def vr_there(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(python), "-m", "vr_cli", "plugin", *arguments],
            env=zoo.environment(**variables),
            cwd=zoo.work,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    installed = vr_there("install", str(wheel), "--yes")
    program = f"{python} -m uv pip" if with_uv else f"{scripts}/uv pip"
    assert installed.returncode == 0, installed.stderr
    assert f"{program} install --python {python} {wheel}" in installed.stderr
    assert "Installed: plugin owls." in installed.stdout
    (row,) = json.loads(vr_there("show", "owls", "--json").stdout)["plugins"]
    assert (row["state"], row["tools"]) == ("loaded", ["other_go"])
    removed = vr_there("uninstall", "owls", "--yes")
    assert removed.returncode == 0, removed.stderr
    assert vr_there("show", "owls").returncode == 1


def test_a_plugin_that_is_not_there_is_not_removed(zoo: Zoo) -> None:
    done = vr(zoo, "uninstall", "othre", "--yes")
    assert done.code == 1
    assert "Did you mean 'other'" in done.stderr


@pytest.mark.parametrize(
    ("name", "distribution"),
    [
        ("weather", "vr-plugin-weather"),
        ("Weather_Map", "vr-plugin-weather-map"),
        ("weather>=1.2,<2", "vr-plugin-weather>=1.2,<2"),
        ("weather[all]", "vr-plugin-weather[all]"),
        ("vr-plugin-weather", "vr-plugin-weather"),
        ("vr-embedder-x==1", "vr-embedder-x==1"),
        (".", "."),
        ("https://example.org/weather.whl", "https://example.org/weather.whl"),
    ],
)
def test_a_plain_name_means_a_plugin(name: str, distribution: str) -> None:
    assert distribution_of(name) == distribution


@pytest.mark.parametrize("name", ["", "-r", "--quiet", "a b", "a;b", "@"])
def test_what_is_no_name_is_refused(name: str, own: Environment) -> None:
    with pytest.raises(VrError) as caught:
        own.install(distribution_of(name))
    assert caught.value.code is Code.INVALID_INPUT


def test_a_folder_is_named_as_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weather").mkdir()
    assert distribution_of("./weather") == "./weather"
    with pytest.raises(VrError, match="A folder weather lies here") as either:
        distribution_of("weather")
    assert either.value.hint == "For the folder give ./weather, for the plugin vr-plugin-weather."
    with pytest.raises(VrError, match=r"No such folder: \./nodir\.") as missing:
        distribution_of("./nodir")
    assert missing.value.code is Code.NOT_FOUND


def test_an_option_is_no_requirement(own: Environment) -> None:
    with pytest.raises(VrError, match="names no distribution"):
        own.install("-r")


@pytest.mark.parametrize(
    ("mark", "command"),
    [
        ("uv-receipt.toml", "uv tool install video-research --with vr-plugin-x"),
        ("pipx_metadata.json", "pipx inject env vr-plugin-x"),
        ("", "uvx --with vr-plugin-x video-research"),
        ("EXTERNALLY-MANAGED", "python3 -m venv"),
    ],
)
def test_an_environment_of_somebody_else_is_left_alone(
    mark: str, command: str, own: Environment, tmp_path: Path
) -> None:
    for folder in (own.prefix, own.library):
        folder.mkdir()
    (own.prefix / mark).touch() if mark.endswith(("toml", "json")) else None
    if mark == "EXTERNALLY-MANAGED":
        (own.library / mark).touch()
        own = replace(own, virtual=False)
    if not mark:
        own = replace(own, prefix=tmp_path / "archive-v0" / "abc")
    for change in (own.install, own.uninstall):
        with pytest.raises(VrError) as caught:
            change("vr-plugin-x")
        assert caught.value.code is Code.NOT_ALLOWED
    with pytest.raises(VrError) as caught:
        own.install("vr-plugin-x")
    assert caught.value.hint.startswith(f"Run: {command}")


def test_show_names_all_that_a_plugin_brings(zoo: Zoo) -> None:
    done = vr(zoo, "show", "zoo", "--json")
    (row,) = json.loads(done.stdout)["plugins"]
    assert (done.code, row["state"], row["version"]) == (0, "loaded", "1.2.3")
    assert "zoo_echo" in row["tools"]
    assert row["commands"] == ["picnic", "zoo feed", "zoo lost"]
    assert row["summary"] == "Brings vr-plugin-zoo."
    assert row["folder"] == str(zoo.packages)
    assert "commands: picnic, zoo feed, zoo lost" in vr(zoo, "show", "vr-plugin-zoo").stdout
    assert vr(zoo, "show", "nobody").code == 1


def test_the_list_names_prompts_resources_kinds_and_providers(zoo: Zoo) -> None:
    rows = {row["name"]: row for row in json.loads(vr(zoo, "list", "--json").stdout)["plugins"]}
    assert rows["infra"]["resources"] == ["vr://artifacts/{name}"]
    assert rows["infra"]["record_kinds"] == ["DocumentPassages"]
    assert rows["infra"]["providers"] == ["ModelProvider gemini"]
