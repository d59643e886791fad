"""`vr store`: how far the store has come, and what it would not take."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeVar

import click

from vr_kernel.cli.loops import run_alone
from vr_kernel.cli.output import print_result
from vr_kernel.cli.session import open_kernel
from vr_kernel.config.config import Config
from vr_kernel.errors import Code, VrError, did_you_mean
from vr_kernel.stdout_guard import diverted_stdout

if TYPE_CHECKING:
    from vr_kernel.journal.delivery import StoreIndex
    from vr_kernel.journal.refusals import Refusal
    from vr_kernel.kernel import Kernel

T = TypeVar("T")
DELIVERY_S = 60.0
"""How long `status` and `retry` wait for what is on its way."""
ROUND_S = 4.0
"""How long a store may be in trouble and come no further."""
LISTED = 1000
"""Most refusals that `failed` shows as text; JSON has all."""
as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
keys_argument = click.argument("keys", nargs=-1)
all_option = click.option("--all", "everything", is_flag=True, help="Every record of the list.")


@click.group()
def store() -> None:
    """Look after the store: how far it has come, and what it would not take."""


@store.command()
@as_json_option
@click.pass_obj
def status(config: Config, *, as_json: bool) -> None:
    """Deliver what is recorded, and show how far the store has come."""

    async def look(index: StoreIndex) -> tuple[dict[str, object], str]:
        left = await _delivered(index)
        return {**asdict(await index.status()), "pending": left}, index.trouble if left else ""

    found, trouble = _with_store(config, look)
    notes = (f"The store does not take what is pending: {trouble}",) if trouble else ()
    print_result(found, notes, as_json=as_json)


@store.command()
@as_json_option
@click.pass_obj
def failed(config: Config, *, as_json: bool) -> None:
    """List the records that the store would not take, and why."""
    refused = _with_store(config, lambda index: index.refused())
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

    async def send(index: StoreIndex) -> dict[str, object]:
        chosen = _chosen(await index.refused(), keys, everything=everything)
        await index.retry(chosen)
        await _delivered(index)
        return {"sent": len(chosen), "refused": len(await index.refused())}

    print_result(_with_store(config, send), (), as_json=as_json)


@store.command()
@keys_argument
@all_option
@as_json_option
@click.pass_obj
def drop(config: Config, keys: tuple[str, ...], *, everything: bool, as_json: bool) -> None:
    """Take refused records off the list; the journal keeps them."""

    async def forget(index: StoreIndex) -> dict[str, object]:
        chosen = _chosen(await index.refused(), keys, everything=everything)
        await index.give_up(chosen)
        return {"dropped": len(chosen)}

    print_result(_with_store(config, forget), (), as_json=as_json)


@store.command("begin-anew")
@click.option("--yes", is_flag=True, help="Do not ask.")
@as_json_option
@click.pass_obj
def begin_anew(config: Config, *, yes: bool, as_json: bool) -> None:
    """Give up what the journal lacks, and make the store anew from what it has."""

    async def look(kernel: Kernel) -> str:
        with suppress(VrError):  # a store that is not made anew yet
            if kernel.store.available():
                await kernel.store.status()
        await kernel.journal.last_seq()
        return await kernel.journal.continuity.lacks()

    async def begin(kernel: Kernel) -> dict[str, object]:
        await kernel.store.restart(empty=True)
        left = await kernel.store.catch_up(DELIVERY_S) if kernel.store.available() else 0
        return {"recorded": await kernel.journal.last_seq(), "pending": left}

    if not (lacking := _with_kernel(config, look)):
        click.echo("The journal lacks nothing that is known of.", err=as_json)
        return
    if not yes:
        click.echo(lacking, err=True)
        click.confirm("Give it up, and go on with this journal?", abort=True, err=True)
    print_result(_with_kernel(config, begin), (), as_json=as_json)


async def _delivered(index: StoreIndex) -> int:
    """Wait for the store to have all, while it takes it; returns what it has not."""
    left = await index.catch_up(ROUND_S)
    for _ in range(1, round(DELIVERY_S / ROUND_S)):
        before, left = left, await index.catch_up(ROUND_S) if left else 0
        if not left or (index.trouble and left >= before):
            break
    return left


def _with_store(config: Config, work: Callable[[StoreIndex], Awaitable[T]]) -> T:
    """What `work` makes of the store.

    Raises:
        VrError: UNAVAILABLE when none is installed.
    """
    return _with_kernel(config, lambda kernel: work(kernel.store))


def _with_kernel(config: Config, work: Callable[[Kernel], Awaitable[T]]) -> T:
    """What `work` makes of a kernel."""
    kernel = open_kernel(config)

    async def run() -> T:
        try:
            return await work(kernel)
        finally:
            await kernel.aclose()

    with diverted_stdout():
        return run_alone(run(), kernel.log)


def _chosen(refused: Sequence[Refusal], keys: Sequence[str], *, everything: bool) -> list[Refusal]:
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
