"""Rows of a page against the same rows by Jinja2, and the size of the pages of long talks."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
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
TIME_LIMIT, ADDED_LIMIT = 1.0, 20_000
"""Times the peer; bytes that a page may add to its bare words, both compressed."""
PROSE = ("cisi", "cranfield")
"""Judged collections whose texts are sentences."""
LINE_WORDS = 10
"""Of real English in a line, which makes 150 a minute."""
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
<div class="words" lang="en" data-starts="{{ starts }}">{% for href, time, lines in groups %}\
<p dir="auto">\
<a class="at" href="{{ href }}" data-at rel="noopener noreferrer">{{ time }}</a> \
{% for line in lines %}{{ line.text }}{% if not loop.last %}
{% endif %}{% endfor %}</p>{% endfor %}</div>"""


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Render the rows in turn, and each page once."""
    del environments
    view = talk(made_up())
    return asyncio.run(_measured(view, rounds))


async def _measured(view: View, rounds: int) -> list[Row]:
    async with open_kernel({"pages": plugin}) as kernel:
        renderer = kernel.services.providers.get(ViewRenderer)
        ours, peer = await timed(renderer, view, rounds)
        sizes = [await _size(renderer, name, texts) for name, texts in spoken().items()]
    pairs = zip(ours, peer, strict=True)
    forms = {"Markdown": as_markdown, "plain text": as_text, "data": as_data}
    written = {
        name: 1000 * median(_seconds(partial(form, view)) for _ in range(rounds))
        for name, form in forms.items()
    }
    return [
        bar(
            f"{LINES} lines of made-up talk, CPU ms; peer: Jinja2",
            1000 * median(ours),
            peer=1000 * median(peer),
            by=median(one / other for one, other in pairs),
            sign="<=",
            limit=TIME_LIMIT,
            unit="x peer",
        ),
        *sizes,
        *(Row(f"the made-up talk as {name}, CPU ms", spent) for name, spent in written.items()),
    ]


async def _size(renderer: ViewRenderer, name: str, texts: Sequence[str]) -> Row:
    """The weight of a page, beside that of its words alone."""
    page, words = await weights(renderer, texts)
    return bar(
        f"page of two hours of {name}, gzip bytes; floor: its words",
        page,
        floor=words,
        by=page - words,
        sign="<=",
        limit=ADDED_LIMIT,
        unit="over floor",
    )


async def weights(renderer: ViewRenderer, texts: Sequence[str]) -> tuple[int, int]:
    """Compressed bytes of the page of a talk, and of the words that are said in it."""
    page = await renderer.page(talk(texts))
    words = " ".join(texts)
    return len(gzip.compress(page.encode())), len(gzip.compress(words.encode()))


def spoken() -> Mapping[str, Sequence[str]]:
    """The lines of two hours, by where they come from; nothing twice, which would pack well."""
    data = os.environ.get("VR_TEST_DATA")
    files = [Path(data, "retrieval", name, "corpus.jsonl") for name in PROSE] if data else []
    found = {f"English ({file.parent.name})": _read(file) for file in files if file.exists()}
    return found or {"made-up words (VR_TEST_DATA is not set)": made_up()}


def _read(file: Path) -> list[str]:
    """The first texts of a collection, in lines of as many words."""
    texts = dict.fromkeys(json.loads(line)["text"] for line in file.read_bytes().splitlines())
    words = [*islice((word for text in texts for word in text.split()), LINES * LINE_WORDS)]
    return [" ".join(words[at : at + LINE_WORDS]) for at in range(0, len(words), LINE_WORDS)]


def made_up(lines: int = LINES) -> list[str]:
    """Lines of made-up words, the same at each call."""
    chance = random.Random(1)
    return [_sentence(chance) for _ in range(lines)]


def _sentence(chance: random.Random) -> str:
    ends = [".", ",", " & <so>?"]
    return " ".join(chance.choices(WORDS, k=9)).capitalize() + chance.choice(ends)


def talk(texts: Sequence[str]) -> View:
    """A talk with a moment every two minutes, the same at each call with the same lines."""
    chance = random.Random(1)
    said = [_line(number, text, chance) for number, text in enumerate(texts)]
    moments = [
        Moment(line.start, f"Moment {number}", None, line.link)
        for number, line in enumerate(said[::30])
    ]
    blocks = [
        Media(FILM, duration=len(texts) * LINE_S),
        Moments(moments, title="Moments"),
        Transcript(said, "en", title="Transcript"),
    ]
    return View("A long talk", blocks, source=FILM)


def _line(number: int, text: str, chance: random.Random) -> Line:
    start = number * LINE_S + 2 * chance.random()
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
    return lambda: template.render(
        starts=_starts(said.lines), groups=[_group(lines) for lines in said_together(said.lines)]
    )


def _starts(lines: Sequence[Line]) -> str:
    """Tenths of seconds, each from the one before."""
    tenths = [0, *(int(line.start * 10) for line in lines)]
    return " ".join(str(there - before) for before, there in pairwise(tenths))


def _group(lines: Sequence[Line]) -> tuple[str, str, Sequence[Line]]:
    """Link, time and lines of a paragraph."""
    return lines[0].link, clock(lines[0].start), lines


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
