"""A view in which every block is once, with every field, for the tests of what shows views."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from vr_kernel.views import (
    Action,
    Block,
    Claim,
    Claims,
    Code,
    Compare,
    DocumentPage,
    Edge,
    Facts,
    File,
    Graph,
    Image,
    Item,
    Line,
    Link,
    Matrix,
    Media,
    Moment,
    Moments,
    Node,
    Pages,
    Pictures,
    Prose,
    Quote,
    Records,
    Step,
    Steps,
    Table,
    Transcript,
    View,
)

FILM = "https://films.example/bridge"
PAPER = Link("https://papers.example/piles.pdf", "On piles", page=7)
PLACE = Link(f"{FILM}?t=93", "The bridge", 93.0, 101.5)
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR42mMwSJgARAwQCgAeDgSB9TR6kQAAAABJRU5E"
    "rkJggg=="
)
"""Four points of one colour."""
FOUND = Quote("The piles stand on rock.", PLACE, "verified")
MOVED = Quote("Clay gives way.", PAPER, "moved", "Moved to page 7, where it was found.")
LOST = Quote("Nobody measured it.", Link("/films/bridge.mp4", "My copy", 12.0), "not_found")
UNREAD = Quote("It swayed in 1958.", Link(FILM), "unchecked")


def sample_view() -> View:
    """Make a view with every block and every field filled, in plain words that differ."""
    return View(
        "A bridge on piles",
        [*_of_films(), *_of_texts(), *_of_evidence(), *_of_work()],
        about=["12:05", "English", "2026-03-01"],
        source=FILM,
        notes=["Two minutes without speech were left out."],
    )


def _of_films() -> Sequence[Block]:
    return [
        Media(FILM, "video", 725.0, 93.5, title="The film"),
        Moments(
            [
                Moment(0.0, "The river from above."),
                Moment(93.0, "A pile is driven.", 101.5, f"{FILM}?t=93", FOUND),
            ],
            title="Key moments",
        ),
        Transcript(
            [
                Line(0.0, 4.2, "Welcome to the river."),
                Line(93.0, 97.5, "We stand on rock.", "Ada Moser", f"{FILM}?t=93"),
            ],
            "en",
            title="What is said",
            detail=True,
        ),
        Pictures(
            [
                Image(PNG, "A pile", "Length 40 m", PLACE),
                Image("vr://artifacts/drawing", "The drawing"),
            ],
            title="Stills",
        ),
    ]


def _of_texts() -> Sequence[Block]:
    prose = (
        "The **piles** carry *everything*: `load = 4` [1], says "
        "[the builder](https://builder.example/diary) [2].\n\n"
        "- first the rock\n  - then the pile\n- last the deck\n\n> Nothing moved.\n\n"
        "```\nload = 4\n```"
    )
    return [
        Prose(prose, [FOUND, MOVED], title="In short"),
        Facts(
            [
                ("Length", 412.5),
                ("Piles", 36),
                ("Open", True),
                ("Architect", "A. Moser"),
                ("Plan", PAPER),
                ("Price", None),
            ],
            title="Figures",
        ),
        Table(
            ["Pile", "Depth in metres", "Stands", "Seen"],
            [["North", 38.25, True, PLACE], ["South", 41, False, None]],
            total=36,
            title="All piles",
        ),
        Pages(
            [
                DocumentPage(6, "Chapter two.\n\nOn clay."),
                DocumentPage(7, "Clay gives way. Rock does not.", PNG, ["Clay gives way."]),
            ],
            title="The paper",
            detail=True,
        ),
        Code("piles:\n  north: 38.25", "yaml", title="Settings"),
    ]


def _of_evidence() -> Sequence[Block]:
    return [
        Claims(
            [
                Claim("The bridge stands on rock.", "established", [FOUND, UNREAD], [MOVED]),
                Claim("It never moved.", "contested", against=[LOST]),
            ],
            title="Claims",
        ),
        Matrix(
            ["The bridge stands on rock.", "It never moved."],
            [Link(FILM, "The bridge"), PAPER],
            [["says so", "doubts it"], ["silent", "says no"]],
            title="Who says what",
        ),
        Graph(
            [
                Node("Pile", "part", "Carries the deck.", 2.0, [FOUND], (0.25, 0.5)),
                Node("Rock", "ground", "Carries the pile.", 1.0, [MOVED], (0.75, 0.5)),
            ],
            [Edge(0, 1, "stands_on", [FOUND])],
            ["part", "ground"],
            title="What carries what",
        ),
        Records(
            [Item("The bridge", "A film about piles.", PLACE, ["film", 725.0], "Films/bridge")],
            total=3,
            facets={"Language": [("English", 2), ("German", 1)]},
            title="Found",
        ),
    ]


def _of_work() -> Sequence[Block]:
    return [
        Steps(
            [
                Step("Watch", "done", 12, 12, 0.0123, "All twelve parts."),
                Step("Compare", "running", 1, 3),
            ],
            title="Progress",
        ),
        Compare(
            View("By the first model", [Facts([("Piles", 36)])]),
            View("By the second model", [Facts([("Piles", 35)])]),
            title="Two readings",
        ),
        Action("film_watch", {"source": FILM, "parts": [1, 2]}, title="Watch it again"),
        File("/films/bridge.html", "text/html", 38_214, title="The page"),
    ]
