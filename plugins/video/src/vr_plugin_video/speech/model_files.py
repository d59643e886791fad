"""Checks that the files of a speech model are complete and the published ones."""

from __future__ import annotations

import hashlib
from pathlib import Path

from vr_kernel import Code, VrError

WEIGHTS = "model.bin"
NEEDED = (WEIGHTS, "config.json", "tokenizer.json")
PINNED = {
    "tiny.en": (75_537_502, "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a")
}
"""Bytes and SHA-256 of published weights: Systran/faster-whisper-tiny.en, revision 0d3d19a32d33."""


def check_files(name: str, folder: Path) -> None:
    """Refuse a model folder that is incomplete, or whose weights are not the published ones.

    Reads the whole file of weights where a checksum is known.

    Raises:
        VrError: CONFLICT, category MODEL_DAMAGED.
    """
    absent = [file for file in NEEDED if not (folder / file).is_file()]
    if not absent and not any(folder.glob("vocabulary.*")):
        absent = ["vocabulary.txt or vocabulary.json"]
    if absent:
        raise damaged_model(name, f"it lacks {', '.join(absent)}")
    if name in PINNED and _sha256(folder / WEIGHTS) != PINNED[name][1]:
        raise damaged_model(name, f"the checksum of {WEIGHTS} is not that of the published file")


def model_name(folder: Path) -> str:
    """The name of the model in a folder: by the size of its weights, else the folder's name."""
    size = (folder / WEIGHTS).stat().st_size
    known = [name for name, (published, _) in PINNED.items() if published == size]
    name = folder.name.removeprefix("faster-").removeprefix("whisper-")
    return known[0] if known else name or folder.name


def fetch_command(name: str) -> str:
    """The command that installs a model."""
    return f"vr video fetch-models {name}"


def damaged_model(name: str, why: str) -> VrError:
    """The error for a model whose files cannot be trusted."""
    return VrError(
        f"The speech model {name} is damaged: {why}.",
        Code.CONFLICT,
        category="MODEL_DAMAGED",
        hint=f"Fetch it again: {fetch_command(name)}",
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
