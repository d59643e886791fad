"""`vr config`: trust in a project's file, and settings without their secrets."""

from __future__ import annotations

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
