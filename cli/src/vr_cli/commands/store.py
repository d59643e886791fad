"""`vr store`: shows the state of the store and the records that it refused."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

import click
from vr_kernel import Code, Config, VrError, did_you_mean

from vr_cli.opening import open_kernel
from vr_cli.output import print_result
from vr_cli.process.loops import close, run_on
from vr_cli.process.streams import diverted_stdout

if TYPE_CHECKING:
    from vr_kernel import Kernel, SearchableStore
    from vr_kernel.journal import DeadLetter

T = TypeVar("T")
DELIVERY_S = 60.0
"""Seconds for which `status` and `retry` wait for records on their way."""
LISTED = 1000
"""Most refusals that `failed` shows as text; JSON has all."""
as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
keys_argument = click.argument("keys", nargs=-1)
all_option = click.option("--all", "everything", is_flag=True, help="Every record of the list.")


@click.group()
def store() -> None:
    """Look after the store: how far it is behind the journal, and which records it refused."""


@store.command()
@as_json_option
@click.pass_obj
def status(config: Config, *, as_json: bool) -> None:
    """Deliver what is recorded, and show how far the store is behind the journal."""

    async def look(kernel: Kernel) -> tuple[dict[str, object], list[str]]:
        left = await kernel.services.store.catch_up(DELIVERY_S)
        found = asdict(await kernel.services.store.status())
        found |= await _counted(kernel, found["delivered"])
        trouble = kernel.services.store.trouble if left else ""
        notes = [f"The store does not take what is pending: {trouble}"] if trouble else []
        notes += filter(None, [await kernel.services.journal.continuity.lacks()])
        return found, notes

    found, notes = _with_kernel(config, look)
    said = {**found, "notes": notes} if as_json else found
    print_result(said, tuple(notes), as_json=as_json)


@store.command()
@as_json_option
@click.pass_obj
def failed(config: Config, *, as_json: bool) -> None:
    """List the records that the store refused, and why."""
    refused = _with_store(config, lambda index: index.dead_letters())
    if not refused and not as_json:
        click.echo("The store took everything.")
        return
    shown = refused if as_json else refused[:LISTED]
    more = len(refused) - len(shown)
    notes = (f"Refused records that are not shown: {more:,}; --json has them.",) if more else ()
    print_result({"refused": [asdict(each) for each in shown]}, notes, as_json=as_json)


@store.command()
@keys_argument
@all_option
@as_json_option
@click.pass_obj
def retry(config: Config, keys: tuple[str, ...], *, everything: bool, as_json: bool) -> None:
    """Send refused records again, by their KEYS or all."""

    async def send(index: SearchableStore) -> dict[str, object]:
        chosen = _chosen(await index.dead_letters(), keys, everything=everything)
        await index.retry(chosen)
        await index.catch_up(DELIVERY_S)
        return {"sent": len(chosen), "refused": len(await index.dead_letters())}

    print_result(_with_store(config, send), (), as_json=as_json)


@store.command()
@keys_argument
@all_option
@as_json_option
@click.pass_obj
def drop(config: Config, keys: tuple[str, ...], *, everything: bool, as_json: bool) -> None:
    """Take refused records off the list; the journal keeps them."""

    async def forget(index: SearchableStore) -> dict[str, object]:
        chosen = _chosen(await index.dead_letters(), keys, everything=everything)
        await index.give_up(chosen)
        return {"dropped": len(chosen)}

    print_result(_with_store(config, forget), (), as_json=as_json)


@store.command("begin-anew")
@click.option("--yes", is_flag=True, help="Do not ask.")
@as_json_option
@click.pass_obj
def begin_anew(config: Config, *, yes: bool, as_json: bool) -> None:
    """Give up what the journal lacks, and rebuild the store from what it has."""

    async def look(kernel: Kernel) -> str:
        continuity = kernel.services.journal.continuity
        continuity.told = True
        with suppress(VrError):  # the store is not rebuilt yet
            if kernel.services.store.available():
                await kernel.services.store.status()
        await kernel.services.journal.last_seq()
        lacking = await continuity.lacks()
        return continuity.loss.what if continuity.loss else lacking

    async def count(kernel: Kernel) -> dict[str, object]:
        delivered = (
            (await kernel.services.store.status()).delivered
            if kernel.services.store.available()
            else None
        )
        return {**await _counted(kernel, delivered), "kept_as": None}

    async def begin(kernel: Kernel) -> dict[str, object]:
        kept = await kernel.services.store.restart(empty=True)
        if kernel.services.store.available():
            await kernel.services.store.catch_up(DELIVERY_S)
        return {**await count(kernel), "kept_as": kept and str(kept)}

    with _session(config) as (kernel, runner):
        lacking = _run(kernel, runner, look(kernel))
        click.echo(lacking or "The journal lacks nothing that is known of.", err=True)
        if not lacking:
            found = _run(kernel, runner, count(kernel))
        else:
            if not yes:
                _agree(_what_is_kept(kernel))
            found = _run(kernel, runner, begin(kernel))
        if as_json or lacking:
            said = {**found, "lacking": lacking} if as_json else found
            print_result(said, (), as_json=as_json)


def _agree(what_is_kept: str) -> None:
    """Ask on a terminal.

    Raises:
        click.UsageError: when nobody can answer.
        click.Abort: when the answer is no.
    """
    click.echo(what_is_kept, err=True)
    if not sys.stdin.isatty():
        raise click.UsageError("Nobody can be asked here. Add --yes.")
    click.confirm("Give it up, and go on with this journal?", abort=True, err=True)


def _what_is_kept(kernel: Kernel) -> str:
    folder = kernel.config.paths.state
    return (
        "The store is rebuilt from this journal. Nothing is deleted: the former file of an"
        f" embedded store stays in {folder} as *.given-up-*, and a Weaviate server keeps its"
        " records."
    )


async def _counted(kernel: Kernel, delivered: int | None) -> dict[str, object]:
    """Count records and deletions in the journal, and in the store up to number `delivered`."""
    recorded = await kernel.services.journal.count()
    if delivered is None:
        return {"recorded": recorded}
    pending = await kernel.services.journal.count(delivered)
    return {"recorded": recorded, "delivered": recorded - pending, "pending": pending}


def _with_store(config: Config, work: Callable[[SearchableStore], Coroutine[Any, Any, T]]) -> T:
    """Do work on the store.

    Raises:
        VrError: UNAVAILABLE when none is installed.
    """
    return _with_kernel(config, lambda kernel: work(kernel.services.store))


def _with_kernel(config: Config, work: Callable[[Kernel], Coroutine[Any, Any, T]]) -> T:
    """Do work on a kernel."""
    with _session(config) as (kernel, runner):
        return _run(kernel, runner, work(kernel))


@contextmanager
def _session(config: Config) -> Iterator[tuple[Kernel, asyncio.Runner]]:
    """A kernel, and the event loop that it runs in."""
    kernel, runner = open_kernel(config), asyncio.Runner()
    try:
        yield kernel, runner
    finally:
        try:
            _run(kernel, runner, kernel.aclose())
        finally:
            close(runner, kernel.log)


def _run(kernel: Kernel, runner: asyncio.Runner, work: Coroutine[Any, Any, T]) -> T:
    with diverted_stdout():
        return run_on(runner, work, kernel.log)


def _chosen(
    refused: Sequence[DeadLetter], keys: Sequence[str], *, everything: bool
) -> list[DeadLetter]:
    if everything == bool(keys):
        raise click.UsageError("Name the keys of records, or give --all.")
    known = {each.key for each in refused}
    for key in keys:
        if key not in known:
            raise VrError(
                f"The store did not refuse {key!r}.",
                Code.NOT_FOUND,
                hint=f"{did_you_mean(key, sorted(known))}`vr store failed` lists what it refused.",
            )
    return [each for each in refused if everything or each.key in keys]
