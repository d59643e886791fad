"""Rules for files by their names, sizes and first bytes: which of them are read."""

from __future__ import annotations

from vr_plugin_content.folders.listing import ReadBounds, Reason
from vr_plugin_content.formats.kinds import RECORDINGS, fits, is_binary, kind_by_name, suffix_of

KILOBYTE = 1_000
MEGABYTE = 1_000_000
DEPTH_LIMIT = 30
"""Most folders below each other that are entered."""
PATH_CHARS = 1_024
NAME_CHARS = 255
DOCUMENTS = frozenset({"pdf", "office", "spreadsheet"})
"""Formats that are bounded as documents, in MB; all others as text."""
BINARY = RECORDINGS | {
    ".7z", ".a", ".ai", ".apk", ".app", ".avif", ".bin", ".bmp", ".br", ".bz2", ".cab",
    ".class", ".ckpt", ".crx", ".dat", ".db", ".deb", ".dll", ".dmg", ".dylib", ".ear",
    ".eot", ".exe", ".fbx", ".glb", ".gz", ".h5", ".heic", ".icns", ".ico", ".img", ".iso",
    ".jar", ".joblib", ".jp2", ".lib", ".lz4", ".mo", ".msi", ".npy", ".npz", ".o", ".obj",
    ".onnx", ".otf", ".parquet", ".pck", ".pickle", ".pkl", ".psd", ".pt", ".pth", ".pyc",
    ".pyd", ".pyo", ".rar", ".rpm", ".safetensors", ".so", ".sqlite", ".sqlite3", ".stl",
    ".swf", ".swp", ".tar", ".tflite", ".tgz", ".tif", ".tiff", ".ttc", ".ttf", ".wasm",
    ".whl", ".woff", ".woff2", ".xz", ".zip", ".zst",
}  # fmt: skip
"""Endings of files that hold no text, and are not opened to find out."""


def reason_by_name(path: str) -> Reason | None:
    """Return why a file is left out by its path alone; None for one that is not."""
    if not _can_be_shown(path):
        return Reason.NAME
    kind = kind_by_name(path)
    if kind is not None:
        return Reason.PICTURE if kind.format == "picture" else None
    return Reason.BINARY if suffix_of(path) in BINARY else None


def most_bytes(path: str, bounds: ReadBounds) -> int:
    """Return how large a file of a folder may be: a document, or a text."""
    kind = kind_by_name(path)
    if kind is not None and kind.format in DOCUMENTS:
        return bounds.max_file_mb * MEGABYTE
    return bounds.max_text_file_kb * KILOBYTE


def is_readable(path: str, head: bytes) -> bool:
    """True for a file that begins as its name says, or as a text when it says nothing."""
    kind = kind_by_name(path)
    return not is_binary(head) if kind is None else fits(kind, head)


def _can_be_shown(path: str) -> bool:
    if len(path) > PATH_CHARS or any(len(name) > NAME_CHARS for name in path.split("/")):
        return False
    try:
        path.encode()  # a name that is no UTF-8 holds half characters
    except UnicodeEncodeError:
        return False
    return path.isprintable()
