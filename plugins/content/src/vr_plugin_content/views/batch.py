"""The view of a batch: the comparison, then each file with its points, or why it has none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vr_kernel import Services, visible_line
from vr_kernel.text import spelled_json
from vr_kernel.views import Block, Cell, Code, Facts, Item, Link, Prose, Records, Table, View, view

from vr_plugin_content.results.batch import (
    BatchContentItem,
    BatchContentResult,
    BatchEstimate,
    Comparison,
    SharedPoint,
)
from vr_plugin_content.views.places import address_of, counted, facts, name_of, points

ITEM_CHARS = 500
"""Longest summary of a file in the list; the whole of a longer one stands with its points."""
OPEN_FILES = 4
"""Files whose points are shown without being asked for."""
MOST_NAMES = 30
FREE = "none, no model is asked"
KEPT = "none, all of it is kept from before"
UNPRICED = "depends on the model"
PRICE = "The cost of the tokens is told by `infra_estimate`, at a terminal also by `--estimate`."


@view(tool="content_batch_analyze")
async def show_batch(services: Services, batch: BatchContentResult) -> View:
    """Show a batch, or what it would cost."""
    del services
    return _planned(batch) if batch.estimate else _done(batch)


def _done(batch: BatchContentResult) -> View:
    by = f"read by {batch.model}" if batch.model else ""
    local = "read without a model" if batch.engine == "local" else ""
    about = [
        counted(batch.total, "file"),
        by or local,
        f"{batch.failed:,} failed" if batch.failed else "",
        f"{batch.cached:,} from the cache" if batch.cached else "",
    ]
    blocks: list[Block] = [*_comparison(batch.comparison)] if batch.comparison else []
    blocks += [Records([_row(item) for item in batch.items], batch.total, title="Files")]
    for item in batch.items:
        blocks += _details(item, detail=len(batch.items) > OPEN_FILES)
    return View(
        _title(batch),
        blocks,
        [each for each in about if each],
        _opened(batch.source),
        batch.limits,
    )


def _comparison(comparison: Comparison) -> Iterator[Block]:
    if comparison.summary.strip():
        yield Prose(comparison.summary, title="Comparison")
    yield from _shared("In common", comparison.commonalities)
    yield from _shared("Differences", comparison.differences)
    if comparison.custom is not None:
        yield Code(spelled_json(comparison.custom, 2), "json", title="Result")


def _shared(title: str, items: Sequence[SharedPoint]) -> list[Block]:
    rows: list[list[Cell]] = [[item.text, ", ".join(item.files)] for item in items]
    return [Table(["Point", "Files"], rows, title=title)] if rows else []


def _row(item: BatchContentItem) -> Item:
    """A file in the list: its summary, or its error and what to do about it."""
    name = _name(item)
    error = f"{item.error.message} {item.error.hint}".strip() if item.error else ""
    state = "" if item.status == "ok" else item.status
    title = item.title if item.title and item.title != name else ""
    told = [state, title, "from the cache" if item.cached else ""]
    text = error or visible_line(item.summary, ITEM_CHARS)
    return Item(name, text, Link(address_of(item.source)), [each for each in told if each])


def _details(item: BatchContentItem, *, detail: bool) -> Iterator[Block]:
    """The parts of an analysis that a list has no room for, below the name of the file."""
    name = _name(item)
    if len(visible_line(item.summary)) > ITEM_CHARS:
        yield Prose(item.summary, title=f"{name}: summary", detail=True)
    yield from points(f"{name}: key points", item.key_points, detail=detail)
    if item.entities:
        names = ", ".join(item.entities[:MOST_NAMES])
        yield Facts([("Names", names)], title=f"{name}: names", detail=True)
    if item.custom is not None:
        yield Code(spelled_json(item.custom, 2), "json", title=f"{name}: result", detail=detail)
    remarks = list(item.limits)
    if item.dropped:
        left = counted(item.dropped, "point")
        remarks.append(f"{left} left out, whose quotes were not found.")
    if remarks:
        listed = "\n".join(f"- {visible_line(each)}" for each in remarks)
        yield Prose(listed, title=f"{name}: notes", detail=True)


def _planned(batch: BatchContentResult) -> View:
    """An estimate: nothing was read by a model, and nothing was paid."""
    estimate = batch.estimate or BatchEstimate(files=0, requests=0, tokens_in=0)
    cost = _cost(batch, estimate)
    rows: list[tuple[str, Cell]] = [
        ("Files to analyse", estimate.files),
        ("Requests", estimate.requests),
        ("Tokens", f"{estimate.tokens_in:,}"),
        ("Cost", cost or UNPRICED),
    ]
    columns = ["File", "State", "Tokens"]
    files: list[list[Cell]] = [
        [Link(address_of(item.source), _name(item)), _state(item), item.tokens_in or None]
        for item in batch.items
    ]
    failed = [_row(item) for item in batch.items if item.error]
    blocks = [*facts(rows, title="Still to be paid")]
    blocks += [Table(columns, files, batch.total, title="Files")] if files else []
    blocks += [Records(failed, title="Failed")] if failed else []
    about = ["only an estimate, nothing was paid", counted(batch.total, "file")]
    notes = [*batch.limits, *([] if cost else [PRICE])]
    return View(f"Estimate: {_title(batch)}", blocks, about, _opened(batch.source), notes)


def _cost(batch: BatchContentResult, estimate: BatchEstimate) -> str:
    """The cost in words; empty when its price is not told."""
    if not estimate.requests:
        return FREE if batch.engine == "local" else KEPT
    known = batch.usage.cost_usd if batch.usage else None
    return "" if known is None else f"${known:.4f}"


def _state(item: BatchContentItem) -> str:
    if item.status == "planned":
        return "kept from before" if item.cached else "to be analysed"
    return "done" if item.status == "ok" else item.status


def _title(batch: BatchContentResult) -> str:
    return name_of(batch.source) if address_of(batch.source) else "Documents"


def _opened(source: str) -> str:
    return source if address_of(source) else ""


def _name(item: BatchContentItem) -> str:
    return item.name or name_of(item.source)
