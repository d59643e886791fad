"""The files of the model, and whether they are the ones that were released."""

from __future__ import annotations

import hashlib
from pathlib import Path

from vr_kernel import Code, VrError

MODEL_FOLDER = Path(__file__).with_name("model")
MODEL_FILE = "all-MiniLM-L6-v2-int8.onnx"
TOKENIZER_FILE = "tokenizer.json"
CHECKSUM_FILE = "CHECKSUMS"
"""Lines of a SHA-256 in hexadecimal, two spaces and a file name, as `sha256sum` writes them."""


def verify_files(folder: Path) -> None:
    """Compare model and tokenizer in `folder` with its list of checksums.

    Raises:
        VrError: UNAVAILABLE, category MODEL_DAMAGED, when a file is missing or differs.
    """
    expected = _read_checksums(folder / CHECKSUM_FILE)
    for name in (MODEL_FILE, TOKENIZER_FILE):
        if name not in expected or _sha256(folder / name) != expected[name]:
            raise _damaged(name)


def _read_checksums(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        raise _damaged(path.name) from None
    pairs = (line.partition("  ") for line in lines)
    return {name: digest for digest, _, name in pairs}


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _damaged(name: str) -> VrError:
    return VrError(
        f"The embedding model's file {name} is missing or damaged.",
        Code.UNAVAILABLE,
        category="MODEL_DAMAGED",
        hint="Install it again: pip install --force-reinstall vr-embedder-minilm",
    )
