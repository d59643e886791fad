"""Pages and documents of the web: read by what they are, refused by what they are not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from contentkit import Desk, open_desk
from vr_kernel import Code, VrError
from vr_testing import FakeGemini
from web_pages import Answer, WebPages

ARTICLE = """<html><head><title>On pumps</title></head><body><nav>Menu Home About</nav>
<h1>On pumps</h1><p>A pump moves water from a low place to a high one, and needs power for it.</p>
<h2>Care</h2><p>Clean the filter once a month with warm water, and dry it before it is used.</p>
<script>var hidden = "never shown"</script></body></html>"""
LOGIN = '<html><title>Sign in</title><form>Name<input><input type="password">Go</form></html>'
ANSWERS = {
    "/article": Answer(ARTICLE.encode()),
    "/notes.md": Answer(b"# Notes\n\nWords.\n", "text/plain"),
    "/data.json": Answer(b'{"a": 1}', "application/json"),
    "/login": Answer(LOGIN.encode()),
    "/app": Answer(b"<html><script src=x></script><div id=root></div></html>"),
    "/fake.pdf": Answer(b"<html>no PDF</html>", "application/pdf"),
    "/film": Answer(b"\0\0\0 ftypmp42", "video/mp4"),
    "/empty": Answer(b""),
    "/round": Answer(status=302, location="/round"),
    "/inward": Answer(status=302, location="http://169.254.169.254/latest/meta-data/"),
    "/closed": Answer(b"members only", status=403),
}


@pytest.fixture
def pages() -> Iterator[WebPages]:
    with WebPages(ANSWERS).serving() as serving:
        yield serving


@pytest.fixture
async def desk(tmp_path: Path, pages: WebPages) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path, settings=pages.settings) as opened:
        yield opened


async def test_an_article_is_read_without_its_menu(desk: Desk, pages: WebPages) -> None:
    found = await desk.read(pages.url("/article#care"))
    assert found.title == "On pumps"
    assert found.source == pages.url("/article")
    assert "Clean the filter once a month" in found.text
    assert "never shown" not in found.text
    document = await desk.load(pages.url("/article"))
    assert document.outline[-1].text == "Care"
    care = next(it for it in document.segments if "Clean the filter" in it.text)
    assert care.locator.heading[-1] == "Care"
    assert care.link.startswith(f"{pages.url('/article')}#:~:text=")


@pytest.mark.parametrize(
    ("path", "mime"), [("/notes.md", "text/markdown"), ("/data.json", "application/json")]
)
async def test_a_document_is_known_by_its_name_where_the_server_says_little(
    desk: Desk, pages: WebPages, path: str, mime: str
) -> None:
    assert (await desk.load(pages.url(path))).mime == mime


async def test_a_login_is_told(desk: Desk, pages: WebPages) -> None:
    found = await desk.read(pages.url("/login"))
    assert any("login" in limit for limit in found.limits)


@pytest.mark.parametrize(
    ("path", "code", "category"),
    [
        ("/app", Code.UNSUPPORTED, "DOCUMENT_EMPTY"),
        ("/fake.pdf", Code.UNSUPPORTED, "NOT_AS_NAMED"),
        ("/film", Code.UNSUPPORTED, "CONTENT_TYPE"),
        ("/empty", Code.UNSUPPORTED, "DOCUMENT_EMPTY"),
        ("/round", Code.UNAVAILABLE, "TOO_MANY_REDIRECTS"),
        ("/inward", Code.NOT_ALLOWED, "URL_NOT_ALLOWED"),
        ("/closed", Code.NOT_ALLOWED, "HTTP_FORBIDDEN"),
        ("/missing", Code.NOT_FOUND, "HTTP_NOT_FOUND"),
    ],
)
async def test_what_cannot_be_read_is_refused_with_a_hint(
    desk: Desk, pages: WebPages, path: str, code: Code, category: str
) -> None:
    with pytest.raises(VrError) as caught:
        await desk.read(pages.url(path))
    assert (caught.value.category, caught.value.code) == (category, code)
    assert caught.value.hint


async def test_gemini_reads_what_a_site_gives_to_browsers_alone(
    tmp_path: Path, pages: WebPages
) -> None:
    report: dict[str, Any] = {
        "title": "Members",
        "summary": "What members read.",
        "key_points": [{"text": "One", "quote": "only for members", "place": ""}],
        "entities": [],
    }
    with FakeGemini() as gemini:
        gemini.answer(report, when=lambda it: it.schema is not None)
        key = {"GEMINI_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": gemini.url}
        async with open_desk(tmp_path, settings=pages.settings, variables=key) as desk:
            url = pages.url("/closed")
            found = await desk.kernel.call("content_analyze", url=url)
            assert found.title == "Members"
            assert [it.status for it in found.key_points] == ["unchecked"]
            assert any("could not be checked" in limit for limit in found.limits)
            read, reported = gemini.requests_of("generateContent")
            assert read.has_tool("urlContext")
            assert not reported.has_tool("urlContext")
            with pytest.raises(VrError) as caught:
                await desk.kernel.call("content_analyze", url=url, engine="local")
            assert caught.value.category == "HTTP_FORBIDDEN"
