"""A view with every block, for tests that look at whole pages."""

from __future__ import annotations

import base64

from vr_kernel.views import (
    Action,
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

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkqPpfDwAEhwICOjqJmwAAAABJRU5ErkJggg=="
)


def everything(film: str = "/films/talk.mp4", duration: float = 60.0) -> View:
    """Every block once; each has a word that ends in `quokka`, which no other has."""
    here = Link(film, "Talk", duration / 5)
    quote = Quote("Words as they were said, with the claimquokka.", here, "verified")
    other = Quote("It is green.", Link("https://example.org/paper", "A paper", page=3), "moved")
    third = duration / 3
    return View(
        "Everything at once",
        [
            Prose(
                "It is **strong** and `coded` prosequokka, see [1] and [home](https://example.org).\n"
                "\n- first\n  - deeper\n\n1. one\n\n> quoted\n\n```\nas it is\n```",
                (quote,),
                title="Summary",
            ),
            Media(film, duration=duration),
            Moments([Moment(0, "Beginning lanequokka", third)], title="Chapters"),
            Moments([Moment(5, "A point momentquokka", quote=other)], title="Moments"),
            Transcript(
                [Line(0, third, "What was saidquokka.", "Ann"), Line(third, duration, "More.")],
                "en",
                title="Transcript",
            ),
            Pictures([Image(PNG, "A slidequokka", "Its text", Link(start=7.0))], title="Slides"),
            Facts([("Kind", "factquokka"), ("Length", 60.5), ("Empty", None)], title="Facts"),
            Table(["Name", "Count"], [["tablequokka", 3], ["beta", 12]], 9, title="Table"),
            Claims([Claim("The sky is blue.", "strong", (quote,), (other,))], title="Claims"),
            Matrix(["Blue matrixquokka"], [here, Link("https://b.org", "B")], [["yes", "no"]]),
            Pages([DocumentPage(7, "A page with a marked pagequokka.", PNG, ("a marked",))]),
            Graph([Node("Sky", "nature", "nodequokka"), Node("Blue")], [Edge(0, 1, "has_colour")]),
            Steps([Step("Read stepquokka", "done", 3, 3, 0.01), Step("Write")], title="Steps"),
            Records(
                [Item("Found recordquokka", "Its text", other.place, (3,), "Kind/key")],
                7,
                {"language": [("en", 4)]},
                title="Records",
            ),
            Compare(
                View("Left", [Facts([("a", "leftquokka")])]),
                View("Right", [Facts([("a", "right")])]),
            ),
            Action("video_export", {"file_path": "/a b/actionquokka.mp4", "use_cache": False}),
            File("/results/filequokka.md", "text/markdown", 12345),
            Code('{"a": "codequokka"}', "json", title="As data", detail=True),
        ],
        ["1:00", "aboutquokka"],
        film,
        ["A limit, the notequokka."],
    )
