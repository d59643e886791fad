"""The outline of a document by the headings of its recorded passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vr_kernel import StoredRecord

from vr_plugin_content.results.document import OutlineItem

BELOW = " > "


def headings_of(records: Sequence[StoredRecord], most: int) -> list[OutlineItem]:
    """Return each heading with the page on which its passages begin.

    Args:
        records: passages in order.
        most: of the headings; when there are more, those of the deepest levels are left out.
    """
    found = list(_headings(records))
    deepest = max((item.level for item in found), default=0)
    while len(found) > most and deepest > 1:
        deepest -= 1
        found = [item for item in found if item.level <= deepest]
    return found[:most]


def _headings(records: Sequence[StoredRecord]) -> Iterator[OutlineItem]:
    above: list[str] = []
    for record in records:
        heading, page = str(record.fields.get("heading", "")), record.fields.get("page")
        path = heading.split(BELOW) if heading else []
        for level, title in enumerate(path, 1):
            if path[:level] != above[:level]:
                number = page if isinstance(page, int) else None
                yield OutlineItem(title=title, level=level, place=f"p. {page}", page=number)
        above = path or above
