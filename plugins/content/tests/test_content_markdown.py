"""Markdown as sections with their headings and lines."""

from __future__ import annotations

import time
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vr_plugin_content.formats import markdown
from vr_plugin_content.formats.parsed import Asked, Parsed

NOTES = """---
title: "The notes"
tags: [a]
---
Before any heading.

# One

Text.

```sh
# x
```

Sub
---

| a | b |
|---|---|
| 1 | 2 |

## Other

End.
"""

LINES = ("# a", "## b", "text", "", "- x", "  y", "> q", "```", "| a |", "|---|", "===", "1. z")


def read(text: str) -> Parsed:
    return markdown.parse(BytesIO(text.encode()), Asked(name="a.md"))


def test_a_piece_is_a_section_with_the_headings_above_it_and_the_lines_of_the_file() -> None:
    found = read(NOTES)
    assert found.title == "The notes"
    lines = NOTES.split("\n")
    assert [piece.place["heading"] for piece in found.pieces] == [
        ["The notes"],
        ["One"],
        ["One", "Sub"],
        ["One", "Other"],
    ]
    for piece in found.pieces:
        claimed = lines[piece.place["first_line"] - 1 : piece.place["last_line"]]
        assert piece.text in "\n".join(claimed)
    assert "| 1 | 2 |" in found.pieces[2].text
    assert [(entry.text, entry.level) for entry in found.outline] == [
        ("One", 1),
        ("Sub", 2),
        ("Other", 2),
    ]
    assert lines[found.outline[2].place["first_line"] - 1] == "## Other"


def test_the_first_heading_is_the_title_where_no_front_matter_says_one() -> None:
    assert read("text\n\n## **First** one ##\n").title == "First one"


def test_a_line_across_the_page_begins_no_front_matter() -> None:
    found = read("---\nSome words\n---\n\nmore\n")
    assert found.title == "Some words"


def test_a_long_section_is_cut_between_its_blocks() -> None:
    found = read("# Long\n\n" + "\n\n".join(f"Paragraph {n}. " + "word " * 100 for n in range(60)))
    assert len(found.pieces) > 4
    assert all(piece.text.startswith(("# Long", "Paragraph")) for piece in found.pieces)
    assert max(len(piece.text) for piece in found.pieces) <= 6_100


@given(st.lists(st.sampled_from(LINES)))
def test_no_line_is_lost_whatever_stands_around_it(lines: list[str]) -> None:
    text = "\n".join(["start", *lines])
    pieces = read(text).pieces
    for number, line in enumerate(text.split("\n"), 1):
        claiming = [
            piece.text
            for piece in pieces
            if piece.place["first_line"] <= number <= piece.place["last_line"]
        ]
        assert not line.strip() or any(line.strip() in told for told in claiming)


@pytest.mark.parametrize(
    "hostile",
    [
        ">" * 50_000,
        "[" * 100_000,
        "[a](" * 100_000,
        "- " * 50_000,
        "*" * 500_000,
        "`" * 500_000,
        "# a\n" * 150_000,
        "|a" * 500 + "|\n" + "|-" * 500 + "|\n" + ("|x" * 500 + "|\n") * 1_000,
        "a\n\n" * 1_000_000,
    ],
    ids=lambda text: repr(text[:4]),
)
def test_hostile_markdown_is_read_in_bounded_time(hostile: str) -> None:
    began = time.process_time()
    found = read(hostile)
    assert time.process_time() - began < 8
    assert all(piece.place for piece in found.pieces)
