"""Pages full of hostile texts in a real browser: nothing runs, and nothing is asked for."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile_texts import hostile_texts
from hostile_views import hostile, lively
from vr_kernel.views import View, ViewRenderer
from vr_pages import plugin
from vr_testing import open_kernel

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
A_PAGE = 20
"""Texts of one page."""
RUN = "() => [...document.querySelectorAll('script')].map((each) => each.textContent.length)"
OPEN = "() => document.querySelectorAll('details').forEach((each) => each.open = true)"
LIVELY = (
    "() => [...document.querySelectorAll('*')].filter((each) =>"
    " [...each.attributes].some((it) => it.name.startsWith('on'))).length"
)
"""The number of elements that have a handler of an event."""


@pytest.fixture
async def browser() -> AsyncIterator[Any]:
    driver = pytest.importorskip("playwright.async_api", reason="needs playwright")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("needs Chromium")
    async with driver.async_playwright() as started:
        opened = await started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        await opened.close()


async def test_nothing_runs_and_nothing_is_asked_for(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    scripts: list[list[int]] = []
    async with open_kernel({"pages": plugin}) as kernel:
        renderer = kernel.services.providers.get(ViewRenderer)
        for view in (View("Harmless", hostile("word").blocks), *views()):
            page = await renderer.page(view, tmp_path)
            file.write_text(page, "utf-8")
            scripts.append(await look(browser, file.as_uri()))
    assert scripts == scripts[:1] * len(scripts)


async def look(browser: Any, address: str) -> list[int]:
    """Open a page, search in it, and return the lengths of its scripts."""
    heard: list[str] = []
    asked: list[str] = []
    page = await browser.new_page()
    page.on("dialog", lambda dialog: heard.append(dialog.message))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("popup", lambda popup: heard.append(popup.url))
    page.on("request", lambda request: asked.append(request.url))
    await page.goto(address)
    await page.evaluate(
        "() => document.querySelectorAll('details').forEach((it) => it.open = true)"
    )
    box = page.locator("input[type=search]")
    for words in ("<script>alert(1)</script>", "\\", "alert"):
        await box.fill(words)
        await box.press("Enter")
    assert await page.evaluate(LIVELY) == 0
    scripts = await page.evaluate(RUN)
    await page.close()
    assert not heard
    away = [url for url in asked if not url.startswith(("file:///", "data:image/", "blob:"))]
    assert not away
    return [int(each) for each in scripts]


def views() -> Iterator[View]:
    """Views that have all blocks for each of some texts."""
    texts = hostile_texts()
    for start in range(0, len(texts), A_PAGE):
        some = texts[start : start + A_PAGE]
        blocks = [block for text in some for it in (hostile, lively) for block in it(text).blocks]
        yield View(some[0], blocks, some, some[0], some)
