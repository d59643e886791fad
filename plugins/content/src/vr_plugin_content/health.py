"""Checks of `vr doctor`: the libraries that read documents, and the recogniser of text."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec

from vr_kernel import Check, Diagnosis, Services, TextRecognizer, VrError

from vr_plugin_content.parsing.parser import Parser, ParseTask
from vr_plugin_content.settings import OFF, ON, ContentSettings

INSTALL = 'pip install "video-research[docs]"'
LIBRARIES = {
    "xberg": "Word, PowerPoint, EPUB",
    "python_calamine": "Excel",
    "trafilatura": "articles on the web without their menus",
}
"""Libraries of the extras, and what each reads."""
SAMPLE = b"Read me.\n"


def content_checks(services: Services) -> list[Check]:
    """The checks of the plugin."""
    settings: ContentSettings = services.settings
    return [
        Check("document libraries", document_libraries),
        Check("parser process", partial(parser_process, services, settings)),
        Check("pages without text", lambda: page_text(services, settings.ocr)),
    ]


def document_libraries() -> Diagnosis:
    """Check which kinds of documents can be read besides PDF, pages and text."""
    missing = [read for name, read in LIBRARIES.items() if find_spec(name) is None]
    if missing:
        return Diagnosis.warning(f"Not read here: {'; '.join(missing)}.", INSTALL)
    return Diagnosis.ok("PDF, Office documents, e-books, pages and text are read.")


async def parser_process(services: Services, settings: ContentSettings) -> Diagnosis:
    """Parse a line of text in a process of its own."""
    task = ParseTask("plain_text", "parse", {"name": "sample.txt"}, body=SAMPLE)
    await services.providers.get(Parser).run(task)
    limits = f"{settings.parser_timeout_s:g} s and {settings.parser_memory_mb:,} MB for a file"
    return Diagnosis.ok(f"Files are parsed in processes of their own: {limits}.")


def page_text(services: Services, wanted: str) -> Diagnosis:
    """Check if pages without text are read, and name the recogniser."""
    if wanted == OFF:
        return Diagnosis.ok("Turned off by `ocr` in [plugins.content].")
    try:
        reader = services.providers.get(TextRecognizer, None if wanted == ON else wanted)
    except VrError as error:
        return Diagnosis.warning(f"Scanned pages are not read. {error.message}", error.hint)
    return Diagnosis.ok(f"{reader.name}.")
