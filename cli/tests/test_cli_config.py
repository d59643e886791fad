"""`vr config`: trust in a project's file, and settings without their secrets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from vr_cli.root import run
from vr_kernel import load_config

SECRET = "s3cr3t-t0ken-value"


@pytest.fixture
def own(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of this process, with folders of its own."""
    monkeypatch.delenv("VR_STRICT", raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    return environ


def test_a_folder_is_trusted(
    own: dict[str, str], working_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (working_folder / "vr.toml").write_text('[store]\nworkspace = "trusted"\n', "utf-8")
    assert load_config(own, {}, working_folder).store.workspace == "default"
    for _ in range(2):
        assert run(["config", "trust", str(working_folder)]) == 0
    assert "trusted" in capsys.readouterr().out
    assert load_config(own, {}, working_folder).store.workspace == "trusted"


@pytest.mark.usefixtures("own")
def test_no_secret_is_shown(
    working_folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("GEMINI_API_KEY", "VR_VIDEO__TOKEN", "VR_HTTP_TOKEN"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.chdir(working_folder)
    for arguments in (["--json"], ["--origin"]):
        assert run(["config", "show", *arguments]) == 0
    captured = capfd.readouterr()
    assert "log_level" in captured.out
    assert "[kernel.serve]" in captured.out
    assert SECRET not in captured.out + captured.err


@pytest.fixture
def shown(
    own: dict[str, str],
    working_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Callable[..., str]:
    """Runs `vr config show` with the plugin of models, where the key of one provider is set."""
    pytest.importorskip("vr_plugin_models")
    for name, value in (own | {"VR_PLUGINS": "models", "GROQ_API_KEY": SECRET}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(working_folder)

    def show(*arguments: str, code: int = 0) -> str:
        assert run(["config", "show", *arguments]) == code
        captured = capfd.readouterr()
        return captured.err if code else captured.out

    return show


def test_what_each_provider_has_is_shown_once_with_what_is_set(shown: Callable[..., str]) -> None:
    lines = shown("--origin").splitlines()
    assert 'groq_api_key = "set"  # variable GROQ_API_KEY' in lines
    assert "zai_coding_plan = true  # default" in lines
    assert lines.count('# <provider>_base_url = ""') == 1
    assert not [line for line in lines if line.startswith(("groq_base_url", "openai_"))]
    (told,) = (line for line in lines if line.startswith("# <provider>: "))
    assert {"groq", "openai", "openai_compatible"} <= {
        *told.removeprefix("# <provider>: ").split(", ")
    }


@pytest.mark.parametrize("how", ["--all", "plugins.models"])
def test_every_setting_is_shown_when_that_is_asked(shown: Callable[..., str], how: str) -> None:
    whole = json.loads(shown("--json"))["plugins.models"]
    text = shown(how)
    assert len(whole) > 150
    assert all(f"\n{key} = " in text for key in whole)
    assert "<provider>" not in text
    assert ("[kernel]" in text) is (how == "--all")
    assert [*json.loads(shown("--json", "plugins.models"))] == ["plugins.models"]


def test_a_section_that_is_not_there_is_answered_with_the_nearest(
    shown: Callable[..., str],
) -> None:
    assert "Did you mean 'plugins.models'" in shown("plugin.models", code=2)
