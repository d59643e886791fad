"""Every argument that is a pattern of file names: none of them leads out of its folder."""

from __future__ import annotations

import pytest
from abuse_bench import Bench
from test_abuse_paths import GLOBS, ODD, PLACES
from tool_arguments import Argument, Kind, of_kind
from vr_kernel import Code

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.parametrize("argument", of_kind(Kind.PATTERN), ids=str),
]
REFUSALS = (Code.NOT_ALLOWED, Code.INVALID_INPUT, Code.NOT_FOUND)
OUTSIDE = [place for place in (*PLACES, *GLOBS) if place.startswith(("/", "..", "./.."))]


async def test_what_leads_out_is_refused(bench: Bench, argument: Argument) -> None:
    for pattern in (*OUTSIDE, "~", "~/*", "~root/*"):
        await bench.abuse(argument, argument.given(pattern), REFUSALS)
    bench.verdict()


async def test_what_is_odd_matches_nothing_of_the_outside(bench: Bench, argument: Argument) -> None:
    for pattern in (*ODD, *PLACES, *GLOBS):
        await bench.abuse(argument, argument.given(pattern))
    bench.verdict()
