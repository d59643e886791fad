"""The fenced blocks of all pages, and what stands above them for whoever runs them.

A comment right before a block says how it is run, and is not shown to readers:

- `<!-- not run: REASON -->`: not at all.
- `<!-- fails -->`: its commands end with an error, which the block shows.
- `<!-- stays -->`: its last command goes on until it is stopped, as a server does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from installation import REPOSITORY
from markdown_it import MarkdownIt

PLACES = ("README.md", "docs/**/*.md", "kernel/README.md", "plugins/*/README.md")
PAGES = {
    path.relative_to(REPOSITORY).as_posix(): path
    for place in (*PLACES, "examples/*/README.md")
    for path in sorted(REPOSITORY.glob(place))
}
MARK = re.compile(r"<!--\s*(not run|fails|stays)(?::\s*(\S.*?))?\s*-->\s*")
TITLE = re.compile(r'title="([^"]+)"')


class Block(NamedTuple):
    """A fenced block: where it begins, its language, the file it is, how it is run."""

    line: int
    language: str
    title: str
    text: str
    mark: str
    reason: str

    @property
    def is_run(self) -> bool:
        """True when it is something to execute, and may be."""
        return self.language in {"console", "python"} and self.mark != "not run"


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page from top to bottom."""
    mark, reason = "", ""
    for token in MarkdownIt("commonmark").parse(page.read_text("utf-8")):
        if token.type == "fence":
            language, _, options = token.info.partition(" ")
            title = TITLE.search(options)
            line = token.map[0] + 1 if token.map else 0
            name = title[1] if title else ""
            yield Block(line, language, name, token.content, mark, reason)
        found = MARK.fullmatch(token.content) if token.type == "html_block" else None
        mark, reason = (found[1], found[2] or "") if found else ("", "")


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command with the output that the page shows for it, `...` standing for anything."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        last = next(i for i, line in enumerate(lines) if not line.endswith("\\"))
        yield "\n".join(lines[: last + 1]), "\n".join(lines[last + 1 :])
