"""Views of what language models cost: so far, and the next call."""

from __future__ import annotations

from vr_kernel.services import Services
from vr_kernel.spending.reports import Estimate, UsageReport, UsageRow, dollars, money
from vr_kernel.views.blocks import Facts, Prose, Table
from vr_kernel.views.declaration import view
from vr_kernel.views.links import Cell
from vr_kernel.views.model import View
from vr_kernel.views.values import cell_of
from vr_kernel.views.words import titled


@view(tool="infra_usage")
async def show_usage(services: Services, report: UsageReport) -> View:
    """One row a tool, model or day, with the columns in which there is something."""
    del services
    if not report.rows:
        return View("Use of language models", [Prose("No language model was used.")])
    left_out = {"key", "cost_usd", "unpriced"}
    names = [name for name in type(report.total).model_fields if name not in left_out]
    twin = {"attempts"} if report.total.attempts == report.total.calls else set[str]()
    told = [name for name in names if getattr(report.total, name) and name not in twin]

    def row(of: UsageRow) -> list[Cell]:
        return [of.key, money(of), *(cell_of(getattr(of, name)) for name in told)]

    rows = [*map(row, report.rows), row(report.total)]
    notes = [f"{report.left_out} more rows are only in the total."] if report.left_out else []
    if unpriced := report.total.unpriced:
        notes.append(f"The cost leaves out calls whose price is not known: {unpriced}.")
    columns = [titled(report.by), "Cost", *(titled(name.removesuffix("_tokens")) for name in told)]
    table = Table(columns, rows)
    return View("Use of language models", [table], ["in dollars and tokens"], notes=notes)


@view(tool="infra_estimate")
async def show_estimate(services: Services, found: Estimate) -> View:
    """The cost with its range, then how it is known."""
    del services
    amounts = (found.low_usd, found.high_usd)
    low, high = (None if usd is None else dollars(usd) for usd in amounts)
    about = found.cost_usd is not None and found.basis == "like calls"
    rows: list[tuple[str, Cell]] = [
        ("Cost", _cost_words(found)),
        ("Mostly", f"{low} to {high}" if about and low != high else None),
        ("At most", None if found.most_usd is None else dollars(found.most_usd)),
        ("Models", ", ".join(found.models) or None),
        ("Requests", found.requests or None),
        ("Tokens", _token_words(found)),
        ("Earlier calls", found.earlier_calls or None),
    ]
    facts = Facts([row for row in rows if row[1] is not None])
    return View(f"Cost of {found.tool}", [facts], ["no model was asked"], notes=found.notes)


def _token_words(found: Estimate) -> str | None:
    if not found.requests:
        return None
    out = f", {found.output_tokens:,} out" if found.output_tokens else ""
    return f"about {found.input_tokens:,} in{out}"


def _cost_words(found: Estimate) -> str:
    """The cost in words."""
    if not found.requests and found.basis == "cached":
        return "nothing: the result is there already, or needs no model"
    if found.cost_usd is not None:
        return f"{'about ' if found.basis == 'like calls' else ''}{dollars(found.cost_usd)}"
    if found.low_usd is None:
        return "not known"
    return f"not known yet; the request alone {dollars(found.low_usd)}"
