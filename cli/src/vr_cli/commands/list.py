"""`vr list`: the sources that are known, or the records of a kind."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from typing import Any

import click
from vr_kernel import Config, Kernel

from vr_cli.commands.show import show_made, show_with
from vr_cli.showing.listing import list_records, list_sources
from vr_cli.showing.wanted import options, taken_from

LIMIT = 20
limit_option = click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=LIMIT,
    show_default=True,
    metavar="N",
    help="Most things in the list.",
)
after_option = click.option(
    "--after",
    type=click.IntRange(1),
    metavar="NUMBER",
    help="Go on where a list ended: the number that its end names.",
)


@click.command(name="list")
@click.argument("kind", required=False)
@limit_option
@after_option
@click.pass_obj
def list_command(
    config: Config, /, kind: str | None, limit: int, after: int | None, **given: Any
) -> int:
    """List the sources that are known, the last changed first, or the records of a KIND."""

    async def make(kernel: Kernel) -> Any:
        if kind is not None:
            return await list_records(kernel, kind, limit, after, _again(limit, "list", kind))
        return await list_sources(kernel, (), limit, after, _again(limit, "list"))

    return show_made(config, make, taken_from(given), kind or "sources")


list_command.params += options()


def _again(limit: int, *words: str) -> str:
    """The command that was run, to be run again from another place on."""
    return shlex.join(["vr", *words, *(["--limit", str(limit)] if limit != LIMIT else [])])


def list_of(kernel: Kernel, domain: str, kinds: Collection[str]) -> click.Command:
    """The command that lists the sources of which a plugin has records."""

    @click.command(name="list", help=f"List the sources of which {domain} has records.")
    @limit_option
    @after_option
    def listed(limit: int, after: int | None, **given: Any) -> int:
        async def make(kernel: Kernel) -> Any:
            again = _again(limit, domain, "list")
            return await list_sources(kernel, kinds, limit, after, again)

        return show_with(kernel, make, taken_from(given), f"{domain} sources")

    listed.params += options()
    return listed
