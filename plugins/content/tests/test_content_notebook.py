"""Notebooks as cells."""

from __future__ import annotations

import json
from base64 import b64encode
from io import BytesIO
from typing import Any

import pytest
from vr_plugin_content.formats import notebook
from vr_plugin_content.formats.parsed import Asked, Parsed, ParseError


def read(book: Any) -> Parsed:
    content = book if isinstance(book, bytes) else json.dumps(book).encode()
    return notebook.parse(BytesIO(content), Asked(name="a.ipynb"))


def picture(form: str) -> str:
    from PIL import Image

    file = BytesIO()
    Image.effect_noise((640, 480), 50).save(file, form)
    return b64encode(file.getvalue()).decode()


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def test_each_cell_is_a_piece_and_headings_are_the_outline() -> None:
    told = "# Title\n\nWords.\n\n```\n# no heading\n```\n## Part"
    cells = [
        {"cell_type": "markdown", "source": told.splitlines(keepends=True)},
        code("print(1)", {"output_type": "stream", "text": ["1\n", "2\n"]}),
        {"cell_type": "markdown", "source": []},
        {"cell_type": "raw", "source": "raw"},
    ]
    found = read({"cells": cells, "metadata": {"language_info": {"name": "julia"}}, "nbformat": 4})
    assert [(piece.place["cell"], piece.text) for piece in found.pieces] == [
        (1, told),
        (2, "```julia\nprint(1)\n```\n\nOutput:\n\n1\n2"),
        (4, "raw"),
    ]
    assert found.title == "Title"
    assert [(entry.text, entry.level, entry.place) for entry in found.outline] == [
        ("Title", 1, {"cell": 1}),
        ("Part", 2, {"cell": 1}),
    ]


def test_outputs_are_clipped_and_pictures_are_described_by_their_size() -> None:
    png, jpeg = picture("PNG"), picture("JPEG")
    found = read({
        "cells": [
            code(
                "run()",
                {"output_type": "stream", "text": "\x1b[31mred\x1b[0m\n" * 500_000},
                {"output_type": "display_data", "data": {"image/png": png, "text/plain": "x"}},
                {"output_type": "display_data", "data": {"image/jpeg": [jpeg[:90], jpeg[90:]]}},
                {"output_type": "display_data", "data": {"image/png": "bm8gcGljdHVyZQ=="}},
            ),
            code("fail()", {
                "output_type": "error", "ename": "ValueError", "evalue": "\x1b[1mbad",
                "traceback": ["secret call"] * 100,
            }),
        ],
    })  # fmt: skip
    text = found.pieces[0].text
    assert len(text) < 2_500
    assert "red\nred" in text
    assert "\x1b" not in text
    assert f"[image/png, 640 x 480, {len(png) * 3 // 4 // 1000} KB]" in text
    assert f"[image/jpeg, 640 x 480, {len(jpeg) * 3 // 4 // 1000} KB]" in text
    assert text.endswith("[image/png, 1 KB]")
    assert found.pieces[1].text.endswith("Output:\n\nValueError: bad")


def test_format_3_is_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Old"]},
        {"cell_type": "code", "input": "1", "outputs": [{"output_type": "pyout", "text": "1"}]},
    ]
    found = read({"worksheets": [{"cells": cells}], "metadata": {"name": ""}, "nbformat": 3})
    assert [piece.text for piece in found.pieces] == ["## Old", "```python\n1\n```\n\nOutput:\n\n1"]
    assert found.outline[0].level == 2


@pytest.mark.parametrize(
    "book",
    [
        b"[]", b"{", b"no json", b"[" * 500_000, b'{"cells":' * 100_000, {"cells": [1]},
        {"cells": None}, {"cells": 1}, {"worksheets": [1]}, 1, "x",
    ],
)  # fmt: skip
def test_what_is_no_notebook_is_said_to_be_damaged(book: Any) -> None:
    with pytest.raises(ParseError) as caught:
        read(book)
    assert caught.value.category == "DOCUMENT_DAMAGED"


@pytest.mark.parametrize("odd", [None, 1, "x", [1], {"a": 1}, [[]]])
def test_odd_values_are_passed_over(odd: Any) -> None:
    cells = [
        {"cell_type": "code", "source": "kept", "outputs": odd},
        code("kept", {"output_type": odd, "data": odd, "text": odd}),
        code("kept", {"data": {"image/png": odd, "text/plain": odd}}),
        {"cell_type": odd, "source": odd, "level": odd},
        {"cell_type": "heading", "source": "kept", "level": odd},
    ]
    found = read({"cells": cells, "metadata": odd, "worksheets": None})
    assert sum("kept" in piece.text for piece in found.pieces) == 4


def test_a_notebook_without_words_is_empty() -> None:
    with pytest.raises(ParseError) as caught:
        read({"cells": []})
    assert caught.value.category == "DOCUMENT_EMPTY"
