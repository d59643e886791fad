"""CSV as tables whose blocks know their lines and cells."""

from __future__ import annotations

import csv
import io
import re
import time
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vr_plugin_content.formats import csv_table
from vr_plugin_content.formats.parsed import Asked, Parsed


def read(content: str, name: str = "a.csv") -> Parsed:
    return csv_table.parse(BytesIO(content.encode()), Asked(name=name))


def test_a_row_of_several_lines_keeps_the_lines_behind_it_right() -> None:
    found = read('name;note\n"A";"two\nlines"\nB;x\n\nC;"y|z"\n')
    assert found.pieces[0].text.split("\n") == [
        "| name | note |",
        "| --- | --- |",
        "| A | two lines |",
        "| B | x |",
        "| C | y\\|z |",
    ]
    assert found.pieces[0].place == {"cells": "A2:B5", "first_line": 2, "last_line": 6}


def test_each_block_repeats_the_header_and_claims_the_rows_it_holds() -> None:
    rows = [f"n{number},{number}" for number in range(2, 1_002)]
    found = read("\n".join(["name,value", *rows]))
    assert len(found.pieces) > 5
    after = 2
    for piece in found.pieces:
        lines = piece.text.split("\n")
        assert lines[0] == "| name | value |"
        first, last = piece.place["first_line"], piece.place["last_line"]
        assert first == after
        assert lines[2] == f"| n{first} | {first} |"
        assert lines[-1] == f"| n{last} | {last} |"
        assert piece.place["cells"] == f"A{first}:B{last}"
        after = last + 1
    assert after == 1_002


def test_a_first_row_of_values_is_a_row_and_no_header() -> None:
    found = read("2024-01-01,4.5,x\n2024-01-02,5.5,y\n")
    assert found.pieces[0].text.startswith("| A | B | C |\n")
    assert found.pieces[0].place == {"cells": "A1:C2", "first_line": 1, "last_line": 2}


def test_tabs_and_ragged_rows() -> None:
    found = read("a\tb\n1\n1\t2\t3\n", "a.tsv")
    assert found.mime == "text/tab-separated-values"
    assert found.pieces[0].text.endswith("| 1 |  |\n| 1 | 2 | 3 |")


@given(st.lists(st.lists(st.text('a1"\n, é', max_size=8), min_size=2, max_size=4), min_size=1))
def test_every_cell_is_kept(rows: list[list[str]]) -> None:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([["name", "other"], *rows])
    said = "\n".join(piece.text for piece in read(written.getvalue(), "a.csv").pieces)
    told = re.sub(r"\s+", " ", said)
    for cell in (cell for row in rows for cell in row):
        assert " ".join(cell.split()) in told


@pytest.mark.parametrize(
    "hostile",
    ['"' + "a," * 25_000_000, "x" * 30_000_000, '\n"' * 500_000, "," * 5_000_000, '","' * 500_000],
    ids=["open quote", "one cell", "quotes", "columns", "cells"],
)
def test_a_table_that_is_none_is_read_as_text_in_bounded_time(hostile: str) -> None:
    began = time.process_time()
    found = read("words\n" + hostile)
    assert time.process_time() - began < 5
    assert found.pieces
    assert all(piece.place["first_line"] for piece in found.pieces)
    assert sum(len(piece.text) for piece in found.pieces) <= 5_000_000
