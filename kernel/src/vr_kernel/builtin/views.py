"""Views of the results of the kernel's own tools, and of passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vr_kernel.text.visible_text import visible_line
from vr_kernel.views.blocks import Action, Block, Facts, Item, Prose, Records, Step, Steps, Table
from vr_kernel.views.declaration import view
from vr_kernel.views.links import Cell
from vr_kernel.views.model import View
from vr_kernel.views.records import item_of
from vr_kernel.views.values import data_block
from vr_kernel.views.words import shown_host, shown_instant, shown_size, titled

if TYPE_CHECKING:
    from datetime import datetime

    from vr_kernel.builtin.cache import CacheReport
    from vr_kernel.builtin.installed import PluginList
    from vr_kernel.builtin.jobs import JobInfo, JobInfos, JobOutcome
    from vr_kernel.builtin.models import Configuration, ModelsReport, ProviderState
    from vr_kernel.services import Services
    from vr_kernel.stores import StoredRecord

MOST_PASSAGES = 200
"""Passages of one document that are shown in full; more are listed."""
MEGABYTE = 1_000_000


@view(tool="infra_cache")
async def show_cache(services: Services, report: CacheReport) -> View:
    """The size of the cache, then its entries."""
    del services
    rows: list[tuple[str, Cell]] = [
        ("Results", report.total_files),
        ("Size", shown_size(round(report.total_size_mb * MEGABYTE))),
        ("Kept for", f"{report.ttl_days:g} days"),
        ("Removed", report.removed or None),
        ("Folder", report.cache_dir),
    ]
    blocks: list[Block] = [Facts([row for row in rows if row[1] not in (None, "")])]
    if report.entries:
        entries = [
            (it.tool, it.model, _time(it.cached_at), f"{it.size_kb:g} kB") for it in report.entries
        ]
        ids = [(it.tool, it.content_id) for it in report.entries]
        blocks.append(Table(("Tool", "Model", "Since", "Size"), entries, title="Kept results"))
        blocks.append(Table(("Tool", "content_id"), ids, title="Their ids", detail=True))
    if report.contexts:
        kept = [(it.model, _time(it.expires_at)) for it in report.contexts]
        names = [(it.name, it.content_id) for it in report.contexts]
        blocks.append(Table(("Model", "Until"), kept, title="Contexts at Gemini"))
        blocks.append(Table(("Name", "content_id"), names, title="Their names", detail=True))
    return View("Cached results", blocks)


@view(tool="infra_configure")
async def show_configuration(services: Services, now: Configuration) -> View:
    """Models that answer, the presets, and the settings for those who look closer."""
    del services
    models: list[tuple[str, Cell]] = [
        (titled(role), ", ".join(names) or "none") for role, names in now.active_models.items()
    ]
    presets = [
        (name, it.default_model, it.flash_model, it.embedding_model)
        for name, it in now.available_presets.items()
    ]
    return View(
        "Models",
        [
            Facts([("Preset", now.active_preset), *models]),
            Table(("Preset", "Default", "Fast", "Embedding"), presets, title="Presets"),
            data_block("Settings", now.current_config),
        ],
    )


@view(tool="infra_plugins")
async def show_plugins(services: Services, found: PluginList) -> View:
    """One plugin a row; those that are not loaded say why."""
    del services
    rows = [(it.name, it.version, it.state, len(it.tools), it.reason) for it in found.plugins]
    told = any(it.reason for it in found.plugins)
    columns = ("Plugin", "Version", "State", "Tools", "Why")[: 5 if told else 4]
    tools = [(it.name, ", ".join(it.tools)) for it in found.plugins if it.tools]
    table = Table(columns, [row[: len(columns)] for row in rows])
    named = Table(("Plugin", "Tools"), tools, title="Tools of each", detail=True)
    return View("Plugins", [table, named] if tools else [table])


@view(tool="infra_models")
async def show_models(services: Services, found: ModelsReport) -> View:
    """The models of each role first, then the providers that are used, then all others."""
    del services
    roles = [(role, ", ".join(models) or "none") for role, models in found.roles.items()]
    prices = [
        (it.model, _price(it.input_usd), _price(it.output_usd), it.prices_of, it.context or "")
        for it in found.models
    ]
    used = [it for it in found.providers if it.used and it.ready]
    refused = [it for it in found.providers if it.ready and not it.used]
    broken = [it for it in found.providers if it.problem]
    others = [it for it in found.providers if not (it.ready or it.problem)]
    notes = [] if used else ["No model is ready: set a key, or a model on this machine."]
    blocks: list[Block] = [Table(("Role", "Models, in order"), roles)]
    if prices:
        columns = ("Model", "$ / M in", "$ / M out", "Prices of", "Window")
        blocks.append(Table(columns, prices, title="Prices and windows"))
    if used:
        blocks.append(Table(*_providers(used), title="Providers in use"))
    if refused:
        blocks.append(Table(*_providers(refused), title="Found, and not used"))
    if broken:
        blocks.append(Table(*_providers(broken), title="Configured, but unusable"))
    if others:
        blocks.append(Table(*_providers(others), title="Other providers", detail=True))
    if found.presets:
        presets = Table(("Preset", "Model"), [*found.presets.items()], title="Presets", detail=True)
        blocks.append(presets)
    return View("Language models", blocks, notes=notes)


def _price(usd: float | None) -> str:
    return "unknown" if usd is None else f"{usd:g}"


def _providers(states: Sequence[ProviderState]) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    """Columns and rows of providers, with what a probe said where there was one."""
    probed = any(it.probe for it in states)
    columns = ("Provider", "Where", "Key", "Why", "Answer")[: 5 if probed else 4]
    rows: list[tuple[Cell, ...]] = []
    for it in states:
        key = it.key_variable or "none needed"
        why = it.problem or (it.reason if it.ready else "not configured")
        where = shown_host(it.address) or "-"
        rows.append((it.name, where, key, why, it.probe)[: len(columns)])
    return columns, rows


@view(tool="job_list")
async def show_jobs(services: Services, found: JobInfos) -> View:
    """Jobs, the newest first."""
    del services
    items = [
        Item(it.tool, str(it.progress), facts=[it.state, _time(it.updated_at)], id=it.job_id)
        for it in found.jobs
    ]
    return View("Jobs", [Records(items, len(items)) if items else Prose("There are no jobs.")])


@view(tool="job_status")
async def show_job(services: Services, job: JobInfo) -> View:
    """The progress of a job, and the way to its result."""
    del services
    return _job(job)


@view(tool="job_cancel")
async def show_cancelled(services: Services, job: JobInfo) -> View:
    """The job as it is now: what it does at this moment may still go on to its end."""
    del services
    if job.state != "running":
        return _job(job)
    return replace(_job(job), blocks=[Prose("It was told to stop, and does so in a moment.")])


@view(tool="job_result")
async def show_outcome(services: Services, job: JobOutcome) -> View:
    """The result as its own tool shows it, the error, or how far the job is."""
    if job.result is not None:
        made = await services.views.of_result_data(job.tool, job.result)
        return replace(made, notes=[*made.notes, *job.notes])
    if job.error is not None:
        said = [str(job.error.get(name) or "") for name in ("message", "hint")]
        return View(
            f"{job.tool}: {job.state}",
            [Prose(said[0])],
            notes=[*filter(None, said[1:]), *job.notes],
        )
    return _job(job)


@view(kind="DocumentPassages")
async def show_passages(services: Services, records: Sequence[StoredRecord]) -> View:
    """A document's passages in order, each below its place, unless the one before has the same."""
    fields = [record.fields for record in records]
    first = fields[0]
    source = _text(first, "source")
    one = all(_text(each, "source") == source for each in fields)
    title = visible_line(_text(first, "title")) if one else ""
    if one and len(records) <= MOST_PASSAGES:
        places = [visible_line(_text(each, "locator")) for each in fields]
        texts = zip(places, [title, *places], fields, strict=False)
        blocks: list[Block] = [
            Prose(_text(each, "text"), title=place if place != before else "")
            for place, before, each in texts
        ]
    else:
        kind = services.kinds.get(records[0].kind)
        blocks = [Records([item_of(kind, each) for each in records], len(records))]
    count = f"{len(records)} passages" if len(records) > 1 else "Passage"
    return View(title or "Passages", blocks, [count], source if one else "")


def _job(job: JobInfo | JobOutcome) -> View:
    title = str(job.progress) or job.tool
    step = Step(title, job.state, job.progress.done, job.progress.total)
    what = "Get the result" if job.state == "done" else "Wait for the result"
    blocks: list[Block] = [Steps([step])]
    if job.state not in ("failed", "cancelled"):
        blocks.append(Action("job_result", {"job_id": job.job_id}, title=what))
    return View(f"{job.tool}: {job.state}", blocks)


def _time(moment: datetime) -> str:
    return shown_instant(moment.isoformat())


def _text(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


VIEWS = (
    show_cache,
    show_configuration,
    show_plugins,
    show_models,
    show_jobs,
    show_job,
    show_cancelled,
    show_outcome,
    show_passages,
)
"""All views of the kernel's own plugin."""
