"""Rows of a page against the same rows by Jinja2, and the size of the page of a long talk."""

from __future__ import annotations

import asyncio
import gzip
import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from statistics import median

from vr_kernel.views import (
    Line,
    Media,
    Moment,
    Moments,
    Transcript,
    View,
    ViewRenderer,
    as_data,
    as_markdown,
    as_text,
    clock,
    said_together,
)
from vr_pages import plugin
from vr_testing import open_kernel

from benchmarks.environments import Environments
from benchmarks.rows import Row, bar

LINES, LINE_S = 1_800, 4.0
"""Two hours of talk."""
TIME_LIMIT, SIZE_LIMIT = 1.0, 40_000
FILM = "/films/talk.mp4"
WORDS = [
    "the",
    "of",
    "search",
    "vector",
    "index",
    "model",
    "data",
    "memory",
    "latency",
    "query",
    "results",
    "embedding",
    "meaning",
    "when",
    "people",
    "think",
    "about",
    "large",
    "systems",
    "we",
    "find",
    "that",
    "small",
    "choices",
    "matter",
    "a",
    "lot",
    "because",
    "each",
    "of",
    "them",
    "is",
    "repeated",
    "many",
    "times",
]
PEER = """\
<div class="words" lang="en">{% for starts, href, time, lines in groups %}\
<p data-t="{{ starts }}" dir="auto">\
<a class="at" href="{{ href }}" data-at rel="noopener noreferrer">{{ time }}</a> \
{% for line in lines %}{{ line.text }}{% if not loop.last %}
{% endif %}{% endfor %}</p>{% endfor %}</div>"""


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Render the rows in turn, and the page once."""
    del environments
    view = talk()
    return asyncio.run(_measured(view, rounds))


async def _measured(view: View, rounds: int) -> list[Row]:
    async with open_kernel({"pages": plugin}) as kernel:
        renderer = kernel.services.providers.get(ViewRenderer)
        ours, peer = await timed(renderer, view, rounds)
        page = (await renderer.page(view)).encode()
    pairs = zip(ours, peer, strict=True)
    forms = {"Markdown": as_markdown, "plain text": as_text, "data": as_data}
    written = {
        name: 1000 * median(_seconds(partial(form, view)) for _ in range(rounds))
        for name, form in forms.items()
    }
    return [
        bar(
            f"{LINES} lines of a transcript, CPU ms; peer: Jinja2",
            1000 * median(ours),
            peer=1000 * median(peer),
            by=median(one / other for one, other in pairs),
            sign="<=",
            limit=TIME_LIMIT,
            unit="x peer",
        ),
        bar("that page, gzip, bytes", len(gzip.compress(page)), sign="<=", limit=SIZE_LIMIT),
        *(Row(f"that view as {name}, CPU ms", spent) for name, spent in written.items()),
    ]


def talk(lines: int = LINES) -> View:
    """A talk with a moment every two minutes, the same at each call."""
    chance = random.Random(1)
    said = [_line(number, chance) for number in range(lines)]
    moments = [
        Moment(line.start, f"Moment {number}", None, line.link)
        for number, line in enumerate(said[::30])
    ]
    blocks = [
        Media(FILM, duration=lines * LINE_S),
        Moments(moments, title="Moments"),
        Transcript(said, "en", title="Transcript"),
    ]
    return View("A long talk", blocks, source=FILM)


def _line(number: int, chance: random.Random) -> Line:
    start = number * LINE_S + 2 * chance.random()
    text = " ".join(chance.choices(WORDS, k=9)).capitalize() + chance.choice([".", ",", " & <so>?"])
    return Line(start, start + LINE_S - 0.5, text, link=f"file://{FILM}#t={int(start)}")


async def timed(renderer: ViewRenderer, view: View, rounds: int) -> tuple[list[float], list[float]]:
    """Processor seconds of the fragment with the words of a talk, and of its peer, in turn."""
    words = View(view.title, view.blocks[::2], source=view.source)
    render = peer(words)
    ours, theirs = [], []
    for _ in range(rounds):
        start = time.process_time()
        await renderer.fragment(words)
        ours.append(time.process_time() - start)
        theirs.append(_seconds(render))
    return ours, theirs


def peer(view: View) -> Callable[[], str]:
    """A function that renders the words of that view by Jinja2, from the same paragraphs."""
    from jinja2 import Environment

    template = Environment(autoescape=True).from_string(PEER)
    (said,) = (block for block in view.blocks if isinstance(block, Transcript))
    return lambda: template.render(groups=[_group(lines) for lines in said_together(said.lines)])


def _group(lines: Sequence[Line]) -> tuple[str, str, str, Sequence[Line]]:
    """Tenths of seconds, link, time and lines of a paragraph."""
    tenths = [0, *(int(line.start * 10) for line in lines)]
    starts = " ".join(str(there - before) for before, there in pairwise(tenths))
    return starts, lines[0].link, clock(lines[0].start), lines


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
