"""Markup and addresses: texts stay texts, rows are what elements are, pictures are bounded."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from every_block import PNG
from hypothesis import given
from hypothesis import strategies as st
from vr_kernel import Code, VrError
from vr_kernel.views import DocumentPage, Image, Media, Pages, Pictures, View
from vr_pages.addresses import opened, stem
from vr_pages.album import collect
from vr_pages.blocks.lists import command_line
from vr_pages.film.player import Player
from vr_pages.markup import GAP, Html, Pattern, element, joined

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ["<b>", "%s", "&amp;", "{{x}}", '"', "\0", "a\0b"]
)


@given(st.lists(st.tuples(TEXTS, TEXTS | TEXTS.map(lambda it: element("i", it))), max_size=5))
def test_rows_are_the_elements_that_they_stand_for(rows: list[tuple[str, str]]) -> None:
    pattern = Pattern(element("li", "50 %", element("b", GAP), class_=GAP))
    wanted = [
        Html(f'<li class="{joined(first)}">50 %<b>{joined(second)}</b></li>')
        for first, second in rows
    ]
    assert pattern.rows(rows) == "".join(wanted)
    assert pattern.runs(rows, [1] * len(rows)) == wanted


def test_an_element_escapes_what_is_no_html() -> None:
    made = element("a", "<b>", element("i", "&"), href='"x"', hidden=True, class_="", id=None)
    assert made == '<a href="&quot;x&quot;" hidden>&lt;b&gt;<i>&amp;</i></a>'


@pytest.mark.parametrize(
    ("address", "href"),
    [
        ("https://example.org/a?b=1", "https://example.org/a?b=1"),
        ("/films/a b.mp4", "file:///films/a%20b.mp4"),
        ("C:\\films\\a.mp4", "file:///C:/films/a.mp4"),
        ("file:///films/a.mp4#t=3", "file:///films/a.mp4#t=3"),
        ("javascript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("//server/share", ""),
        ("file://server/share", ""),
        ("file:////server/share", ""),
        ("\\\\server\\share", ""),
        ("talk.mp4", ""),
        ("vr://artifacts/x.html", ""),
        ("https://evil.example\\@good.example/", "https://evil.example%5C@good.example/"),
        ("", ""),
    ],
)
def test_only_the_web_and_files_of_this_machine_are_opened(address: str, href: str) -> None:
    assert opened(address) == href


def test_a_film_is_known_at_any_time_of_it() -> None:
    assert stem("https://y.example/watch?v=1&t=93s") == stem("https://y.example/watch?v=1")
    assert stem("https://y.example/watch?t=1&v=1#x") == stem("https://y.example/watch?v=1")
    assert stem("/a/talk.mp4") == stem("file:///a/talk.mp4#t=12")
    assert stem("/a/talk.mp4") != stem("/b/talk.mp4")


@pytest.mark.skipif(os.name == "nt", reason="paths of POSIX")
@pytest.mark.parametrize(
    ("source", "addresses", "policy"),
    [
        ("/out/film.mp4", ("film.mp4",), "file: blob:"),
        ("/in/a film.mp4", ("file:///in/a%20film.mp4", "a%20film.mp4"), "file: blob:"),
        ("https://a.example/film.webm", ("https://a.example/film.webm",), "http: https:"),
        ("https://a.example/watch?v=1", (), ""),
        ("film.mp4", (), ""),
    ],
)
def test_a_film_is_looked_for_where_it_is_then_beside_the_page(
    source: str, addresses: tuple[str, ...], policy: str
) -> None:
    player = Player.of(Media(source), Path("/out"))
    assert player.addresses == addresses
    assert " ".join(player.policy) == policy
    shown = player.element()
    assert ("<video" in shown) == bool(addresses)
    assert 'preload="none"' in shown or not policy.startswith("http")


def artifacts(**content: bytes) -> Any:
    """Artifacts by name, each a file whose bytes are counted."""

    def find(name: str) -> SimpleNamespace:
        if name not in content:
            raise VrError("gone", Code.NOT_FOUND)
        return SimpleNamespace(path=SimpleNamespace(read_bytes=lambda: content[name]))

    return SimpleNamespace(find=find)


def test_pictures_come_along_as_far_as_they_fit() -> None:
    slides = [Image(f"vr://artifacts/{name}") for name in ("a", "b", "gone", "text", "c")]
    page = DocumentPage(1, "", "vr://artifacts/d")
    view = View("T", [Pictures(slides), Pages([page]), Pictures([Image(PNG)])])
    kept = artifacts(a=PNG, b=PNG + b"b", c=PNG + b"c", d=PNG + b"d", text=b"no picture")
    album = collect(view, kept, most=3)
    assert list(album.pictures) == [f"vr://artifacts/{name}" for name in "abc"]
    assert album.left_out == {"vr://artifacts/d", PNG}
    assert collect(view, kept, size=300).left_out >= {"vr://artifacts/c"}


def test_no_picture_of_elsewhere_is_shown() -> None:
    foreign = ("https://example.org/x.png", "data:image/svg+xml;base64,AAAA", "/etc/x.png")
    view = View("T", [Pictures([Image(each) for each in foreign])])
    album = collect(view, artifacts())
    assert not album.pictures
    assert not album.left_out


def test_an_action_is_a_command() -> None:
    given = {"file_path": "/a b.mp4", "use_cache": False, "name": ["x", "y"], "n": 3, "no": None}
    line = "vr video export --file-path '/a b.mp4' --no-use-cache --name x --name y --n 3"
    assert command_line("video_export", given) == line
