"""`vr show`: all that is known of a source, a record, a job, or what a file holds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import click
from vr_kernel import Config, Kernel, View
from vr_kernel.views import as_data

from vr_cli.index import as_commands
from vr_cli.opening import at_work, open_kernel
from vr_cli.showing.browser import readable_name
from vr_cli.showing.output_file import require_output
from vr_cli.showing.presenting import Presented, make_page, present, require_pages, write_view
from vr_cli.showing.subjects import find_subject
from vr_cli.showing.wanted import Wanted, options, taken_from

Making = Callable[[Kernel], Awaitable[tuple[View, dict[str, Any] | None]]]
"""Makes what is shown, and the JSON of it; without one the view itself is the JSON."""


@click.command()
@click.argument("what", nargs=-1, required=True, metavar="SOURCE|RECORD|JOB|FILE")
@click.pass_obj
def show(config: Config, /, what: tuple[str, ...], **given: Any) -> int:
    """Show all that is known of something.

    It may be named by an address, a path, words of its title, the beginning of an id, or Kind/key;
    a file with .json that -o wrote is shown again.
    """
    text = " ".join(what)
    if not text.strip():
        raise click.UsageError("Name what is to be shown.", click.get_current_context())

    async def make(kernel: Kernel) -> tuple[View, None]:
        return await (await find_subject(kernel, text)).show(), None

    return show_made(config, make, taken_from(given), text)


show.params += options()


def show_made(config: Config, make: Making, wanted: Wanted, name: str) -> int:
    """Make a view with a kernel, and present it as it is wanted; returns the exit code.

    Args:
        config: of the kernel.
        make: makes it.
        wanted: the options.
        name: of which a readable name of a file is made.
    """
    return show_with(open_kernel(config), make, wanted, name)


def show_with(kernel: Kernel, make: Making, wanted: Wanted, name: str) -> int:
    """Make a view with a kernel that is open, present it, and close the kernel."""

    async def prepare() -> Presented:
        view, data = await make(kernel)
        ready = Presented(as_data(view) if data is None else data, view)
        ready.spelled = partial(as_commands, kernel.tools)
        if target is not None:
            await write_view(ready, kernel.services, target)
        if wanted.in_browser:
            await make_page(ready, kernel.services)
        return ready

    with at_work(kernel) as run:
        require_pages(kernel.services, wanted)
        target = None
        if wanted.output is not None:
            target = require_output(wanted.output, readable_name(name), (), force=wanted.force)
        return present(run(prepare()), kernel.services, wanted)
