"""The kinds of files that are read: by name, by media type, and by their first bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath

HEAD_BYTES = 4_096
"""Bytes at the beginning of a file by which its kind is found out."""
ZIP = b"PK\x03\x04"
RTF = b"{\\rtf"
_BINARY = frozenset({"pdf", "office", "spreadsheet", "picture"})
_UNICODE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file.

    Attributes:
        name: as people say it, such as `PDF`.
        format: the module of this package that parses it.
        suffixes: of file names, with the dot.
        mimes: its media types, the usual one first.
        magic: how such files begin; empty where they begin in any way.
        archive: whether it is a zip file, whose size unpacked is checked first.
        extra: of this distribution, with the library that reads it; empty for the base.
    """

    name: str
    format: str
    suffixes: tuple[str, ...]
    mimes: tuple[str, ...]
    magic: tuple[bytes, ...] = ()
    archive: bool = False
    extra: str = ""

    @property
    def mime(self) -> str:
        """The usual media type."""
        return self.mimes[0]


_WORD = "application/vnd.openxmlformats-officedocument"
_ODF = "application/vnd.oasis.opendocument"
PDF = Kind("PDF", "pdf", (".pdf",), ("application/pdf", "application/x-pdf"), (b"%PDF",))
HTML = Kind("HTML", "html", (".html", ".htm", ".xhtml"), ("text/html", "application/xhtml+xml"))
MARKDOWN = Kind("Markdown", "markdown", (".md", ".markdown", ".mdown"), ("text/markdown",))
TEXT = Kind(
    "text",
    "plain_text",
    (
        ".txt", ".text", ".log", ".rst", ".adoc", ".org", ".tex", ".bib", ".srt", ".vtt", ".diff",
        ".patch", ".json", ".jsonl", ".ndjson", ".geojson", ".xml", ".xsd", ".xsl", ".rss", ".atom",
        ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".properties", ".env", ".lock", ".py",
        ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".java", ".kt", ".kts", ".scala",
        ".groovy", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".m", ".mm", ".cs", ".fs",
        ".go", ".rs", ".rb", ".php", ".pl", ".pm", ".r", ".jl", ".lua", ".swift", ".dart", ".ex",
        ".exs", ".erl", ".hs", ".ml", ".mli", ".clj", ".lisp", ".el", ".scm", ".sh", ".bash",
        ".zsh", ".fish", ".ps1", ".bat", ".cmd", ".sql", ".graphql", ".proto", ".css", ".scss",
        ".less", ".vue", ".svelte", ".astro", ".tf", ".hcl", ".nix", ".cmake", ".mk", ".gradle",
        ".dockerfile", ".asm", ".s", ".v", ".sv", ".vhd", ".vhdl", ".f90", ".f", ".pas",
        ".ada", ".zig", ".nim",
    ),
    ("text/plain", "application/json", "application/xml", "text/xml", "application/yaml",
     "application/toml", "application/javascript", "text/javascript", "text/css",
     "application/rss+xml", "application/atom+xml", "application/ld+json", "text/x-python"),
)  # fmt: skip
KINDS: tuple[Kind, ...] = (
    PDF,
    Kind(
        "Word document", "office", (".docx", ".docm"), (f"{_WORD}.wordprocessingml.document",),
        (ZIP,), archive=True, extra="docs",
    ),
    Kind(
        "PowerPoint presentation", "office", (".pptx", ".pptm"),
        (f"{_WORD}.presentationml.presentation",), (ZIP,), archive=True, extra="docs",
    ),
    Kind(
        "Excel workbook", "spreadsheet", (".xlsx", ".xlsm", ".xlsb"),
        (f"{_WORD}.spreadsheetml.sheet", "application/vnd.ms-excel.sheet.binary.macroenabled.12"),
        (ZIP,), archive=True, extra="docs",
    ),
    Kind("EPUB book", "office", (".epub",), ("application/epub+zip",), (ZIP,), archive=True,
         extra="docs"),
    Kind("OpenDocument text", "office", (".odt",), (f"{_ODF}.text",), (ZIP,), archive=True,
         extra="docs"),
    Kind("OpenDocument presentation", "office", (".odp",), (f"{_ODF}.presentation",), (ZIP,),
         archive=True, extra="docs"),
    Kind("OpenDocument spreadsheet", "spreadsheet", (".ods",), (f"{_ODF}.spreadsheet",), (ZIP,),
         archive=True, extra="docs"),
    Kind("old Excel workbook", "spreadsheet", (".xls",), ("application/vnd.ms-excel",), (OLE,),
         extra="docs"),
    Kind("old Word document", "office", (".doc",), ("application/msword",), (OLE,), extra="docs"),
    Kind("old PowerPoint presentation", "office", (".ppt",), ("application/vnd.ms-powerpoint",),
         (OLE,), extra="docs"),
    Kind("RTF", "office", (".rtf",), ("application/rtf", "text/rtf"), (RTF,), extra="docs"),
    HTML,
    MARKDOWN,
    Kind("CSV table", "csv_table", (".csv", ".tsv"), ("text/csv", "text/tab-separated-values")),
    Kind("notebook", "notebook", (".ipynb",), ("application/x-ipynb+json",)),
    Kind("e-mail", "mail", (".eml",), ("message/rfc822",)),
    Kind("mailbox", "mail", (".mbox",), ("application/mbox",), (b"From ",)),
    Kind("PNG picture", "picture", (".png",), ("image/png",), (b"\x89PNG\r\n\x1a\n",)),
    Kind("JPEG picture", "picture", (".jpg", ".jpeg"), ("image/jpeg",), (b"\xff\xd8\xff",)),
    Kind("GIF picture", "picture", (".gif",), ("image/gif",), (b"GIF87a", b"GIF89a")),
    Kind("WebP picture", "picture", (".webp",), ("image/webp",), (b"RIFF",)),
    Kind("SVG drawing", "svg", (".svg",), ("image/svg+xml",)),
    TEXT,
)  # fmt: skip
RECORDINGS = frozenset({
    ".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".wmv", ".flv", ".mpg", ".mpeg", ".3gp",
    ".mp3", ".m4a", ".wav", ".flac", ".ogg", ".opus", ".aac", ".wma", ".ogv",
})  # fmt: skip
"""Suffixes of films and sounds, whatever is in them."""
TEXT_NAMES = frozenset({
    "makefile", "dockerfile", "containerfile", "license", "licence", "copying", "notice", "readme",
    "changelog", "authors", "contributors", "news", "todo", "version", "gemfile", "rakefile",
    "procfile", "vagrantfile", "jenkinsfile", "justfile", "cmakelists", "codeowners", "manifest",
    ".gitignore", ".gitattributes", ".editorconfig", ".dockerignore", ".npmrc",
})  # fmt: skip
"""Names without a suffix that are known to be text, in lower case."""


def suffix_of(name: str) -> str:
    """Return the suffix of a file's name or of an address's path, with its dot, in lower case."""
    last = PureWindowsPath(PurePosixPath(name).name).name
    return PurePosixPath(last).suffix.lower()


def kind_by_name(name: str) -> Kind | None:
    """Return the kind that a name says; None for a name that says none."""
    suffix = suffix_of(name)
    if suffix:
        return next((kind for kind in KINDS if suffix in kind.suffixes), None)
    return TEXT if PurePosixPath(name).name.lower() in TEXT_NAMES else None


def kind_by_mime(mime: str) -> Kind | None:
    """Return the kind of a media type; None for one that is not read here."""
    found = next((kind for kind in KINDS if mime in kind.mimes), None)
    return found or (TEXT if mime.startswith("text/") else None)


def kind_by_content(head: bytes) -> Kind | None:
    """Return the kind that the first bytes show; None for text, and for what is not known."""
    if _is_pdf(head):
        return PDF
    if head.startswith(ZIP):
        return _packed(head)
    for kind in _with_magic():
        if head.startswith(kind.magic) and (kind.suffixes != (".webp",) or head[8:12] == b"WEBP"):
            return kind
    beginning = head[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if beginning.startswith((b"<!doctype html", b"<html")):
        return HTML
    return None


def _packed(head: bytes) -> Kind | None:
    """The kind of a zip file by the first of its entries; None for any other archive."""
    if head[30:38] == b"mimetype":
        said = {kind for kind in KINDS if kind.archive and head.startswith(kind.mime.encode(), 38)}
        return max(said, key=lambda kind: len(kind.mime), default=None)
    folders = {b"word/": ".docx", b"ppt/": ".pptx", b"xl/": ".xlsx"}
    if b"[Content_Types].xml" not in head and b"_rels/" not in head:
        return None
    suffix = next((it for folder, it in folders.items() if folder in head), "")
    return next((kind for kind in KINDS if suffix in kind.suffixes), None)


def _is_pdf(head: bytes) -> bool:
    """True for a PDF, which may have other bytes before its mark, but no words."""
    at = head[:1024].find(b"%PDF-")
    return at >= 0 and not any(chr(byte).isalnum() for byte in head[:at])


def fits(kind: Kind, head: bytes) -> bool:
    """True when a file that begins so can be of a kind."""
    if kind is PDF:
        return _is_pdf(head)
    if kind.suffixes == (".webp",):
        return head.startswith(b"RIFF") and head[8:12] == b"WEBP"
    if kind.magic:
        return head.startswith(kind.magic)
    return not is_binary(head)


def is_binary(head: bytes) -> bool:
    """True for bytes that no text begins with: a known kind of binary file, or many controls."""
    if head.startswith(_UNICODE_MARKS):
        return False
    if head.startswith(ZIP):
        return True
    kind = kind_by_content(head)
    if kind is not None and kind.format in _BINARY and kind.magic[0] != RTF:
        return True
    controls = sum(byte < 9 or 13 < byte < 27 for byte in head)  # noqa: PLR2004 - tab to return, escape
    return controls * 100 > len(head)


def _with_magic() -> Iterator[Kind]:
    return (kind for kind in KINDS if kind.magic and kind is not PDF)
