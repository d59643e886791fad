"""Facts, tables and matrices at a terminal; a table that is too wide becomes a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vr_kernel.files import URI_PREFIX
from vr_kernel.views import Cell, Facts, Matrix, Table, link_words, shown_host

from vr_cli.showing.addresses import is_address
from vr_cli.showing.pen import BOLD, DIM, Pen

if TYPE_CHECKING:
    from rich.console import JustifyMethod, RenderableType
    from rich.text import Text

ROWS, FACTS = 20, 24
"""Rows of a table, and facts, in a summary."""
CELL_LINES = 3
"""Lines of a cell in a summary."""
NARROW = 14
"""Columns that the cells of a table need to be read well."""
GAP = 2
"""Columns between those of a table."""
DIGEST_CHARS = 64
HEX = frozenset("0123456789abcdef")


def is_digest(value: Cell) -> bool:
    """Check for the digest of a content, which says nothing to a person."""
    return isinstance(value, str) and len(value) == DIGEST_CHARS and HEX.issuperset(value)


def _facts(block: Facts, pen: Pen) -> Iterator[RenderableType]:
    told = [(name, pen.cell(value)) for name, value in block.rows if not is_digest(value)]
    rows = [(pen.line(name), shown) for name, shown in told if shown.plain]
    shown = rows[: pen.most(rows, FACTS)]
    if not shown:
        return
    width = max(name.cell_len for name, _ in shown)
    if width > pen.window.width // 2:
        yield from _stacked([[name.plain, value] for name, value in shown], pen)
    else:
        grid = pen.grid(DIM, "")
        for name, value in shown:
            grid.add_row(name, value)
        yield grid
    pen.leave(block.title, len(rows) - len(shown), "facts")


def _stacked(rows: Sequence[tuple[str, Text]] | Sequence[list[Any]], pen: Pen) -> Iterator[Any]:
    for name, value in rows:
        yield pen.joined([pen.line(f"{name}:", DIM), value])


def _table(block: Table, pen: Pen) -> Iterator[RenderableType]:
    kept = [at for at in range(len(block.columns)) if _tells(block, at, pen)]
    rows = [
        [pen.short(row[at]) if at < len(row) else pen.text() for at in kept] for row in block.rows
    ]
    shown = rows[: pen.most(rows, ROWS)]
    if not shown:
        return
    heads = [pen.line(block.columns[at]) for at in kept]
    numeric = [_is_numeric(block, at) for at in kept]
    yield from columns(heads, shown, numeric, pen)
    pen.leave(block.title, len(rows) - len(shown), "rows")
    if block.total > len(rows):
        yield pen.more(block.total, len(rows))


def columns(
    heads: Sequence[Text], rows: Sequence[Sequence[Text]], right: Sequence[bool], pen: Pen
) -> Iterator[RenderableType]:
    """Rows under their heads; where the window is too narrow for that, one thing after another.

    Args:
        heads: of the columns.
        rows: of cells.
        right: whether the cells of a column are numbers.
        pen: draws for the window.
    """
    from rich.table import Table as Drawn

    wide = [max(cell.cell_len for cell in column) for column in zip(heads, *rows, strict=True)]
    room = pen.window.width - GAP * (len(heads) - 1)
    if sum(min(it, NARROW) for it in wide) > room and len(heads) > 1:
        yield from _list(heads, rows, pen)
        return
    table = Drawn(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style=DIM)
    widths = shared(wide, room)
    for head, width, number in zip(heads, widths, right, strict=True):
        side: JustifyMethod = "right" if number else "left"
        table.add_column(head, justify=side, overflow="fold", width=width)
    for row in rows:
        pairs = zip(row, widths, strict=True)
        table.add_row(*(pen.cut(cell, CELL_LINES, width) for cell, width in pairs))
    yield table


def shared(wide: Sequence[int], room: int) -> list[int]:
    """Widths of columns: the narrow ones have what they need, the wide ones share the rest."""
    widths, left = list(wide), room
    for place, at in enumerate(sorted(range(len(wide)), key=lambda it: wide[it])):
        widths[at] = max(min(wide[at], left // (len(wide) - place)), 1)
        left -= widths[at]
    return widths


def _list(
    heads: Sequence[Text], rows: Sequence[Sequence[Text]], pen: Pen
) -> Iterator[RenderableType]:
    """Each row by itself: its first cell, then the others with their names."""
    from rich.padding import Padding

    for row in rows:
        first, *rest = [
            (head, cell) for head, cell in zip(heads, row, strict=True) if cell.plain
        ] or [(pen.text(), pen.text())]
        head, cell = first
        cell.stylize(BOLD)
        named = pen.line(head.plain if cell.plain[:1].isdigit() else "", DIM)
        yield pen.cut(pen.joined([named, cell]), CELL_LINES)
        told = [pen.joined([pen.line(head.plain, DIM), cell]) for head, cell in rest]
        if told:
            inner = pen.window.width - 2
            yield Padding(pen.cut(pen.joined(told, " · "), 2 * CELL_LINES, inner), (0, 0, 0, 2))


def _tells(block: Table, at: int, pen: Pen) -> bool:
    """Check for a column that says something to a person; in a summary, something new."""
    cells = [row[at] for row in block.rows if at < len(row) and row[at] not in (None, "")]
    if not cells or all(is_digest(cell) for cell in cells):
        return False
    texts = [cell for cell in cells if isinstance(cell, str)]
    if pen.full or len(texts) < len(cells):
        return True
    kept = (URI_PREFIX, str(pen.artifacts or URI_PREFIX))
    if all(text.startswith(kept) for text in texts):
        return False
    alike = len({shown_host(text) for text in texts}) == 1 and len(texts) > 1
    return not (alike and all(is_address(text) for text in texts))


def _is_numeric(block: Table, at: int) -> bool:
    cells = [row[at] for row in block.rows if at < len(row) and row[at] is not None]
    return all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)


def _matrix(block: Matrix, pen: Pen) -> Iterator[RenderableType]:
    heads = [pen.line("Claim"), *(pen.line(link_words(it)) for it in block.sources)]
    pairs = list(zip(block.claims, block.cells, strict=False))
    shown = pairs[: pen.most(pairs, ROWS)]
    rows = [
        _filled([pen.line(claim), *map(pen.line, cells)], len(heads), pen) for claim, cells in shown
    ]
    if rows:
        yield from columns(heads, rows, [False] * len(heads), pen)
        pen.leave(block.title, len(pairs) - len(shown), "claims")


def _filled(cells: list[Text], count: int, pen: Pen) -> list[Text]:
    return [*cells[:count], *(pen.text() for _ in range(count - len(cells)))]


DRAWERS: Mapping[str, Callable[[Any, Pen], Iterator[RenderableType]]] = {
    "Facts": _facts,
    "Table": _table,
    "Matrix": _matrix,
}
"""The function that draws each of these blocks."""
