"""A report as a page in a real browser: accessible, at any width, light and dark, alone."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import report_samples as samples
from vr_kernel.views import ViewRenderer
from vr_plugin_research.exports.page_file import page_of
from vr_plugin_research.views.report import view_of
from vr_testing import open_kernel

pages = pytest.importorskip("vr_pages.plugin", reason="vr-pages is not installed")
driver = pytest.importorskip("playwright.async_api", reason="needs playwright")
axe = pytest.importorskip("axe_playwright_python.async_playwright", reason="needs axe")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(PROGRAM is None, reason="needs Chromium"),
]
HEIGHT = 4_000
"""Parts outside of the window are not drawn."""
CITED = "Array.from(document.querySelectorAll('.claims .source a'), it => it.href)"


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    """The exported page of the rich report."""
    made = tmp_path / "report.html"
    async with open_kernel({"pages": pages}) as kernel:
        assert kernel.services.providers.names(ViewRenderer)
        content = await page_of(kernel.services, view_of(samples.document_report()))
    made.write_bytes(content)
    return made


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
async def test_it_is_accessible_fits_and_asks_nobody(
    file: Path, tmp_path: Path, width: int, scheme: Any
) -> None:
    asked: list[str] = []
    complaints: list[str] = []
    async with driver.async_playwright() as started:
        browser = await started.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        size = {"width": width, "height": HEIGHT}
        page = await (await browser.new_context(viewport=size, color_scheme=scheme)).new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        await page.goto(file.as_uri())
        for folded in await page.locator("summary").all():
            await folded.click()
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
        found = (await axe.Axe().run(page)).response["violations"]
        assert [each["id"] for each in found] == []
        cited = await page.evaluate(CITED)
        text = await page.locator("body").inner_text()
        picture = await page.screenshot(path=tmp_path / f"report-{width}-{scheme}.png")
        await browser.close()
    assert [each for each in asked if not each.startswith("data:")] == [file.as_uri()]
    assert complaints == []
    assert {f"{samples.PDF}#page=7", f"{samples.FILM}&t=93s", f"{samples.TALK}#t=3725"} <= {*cited}
    assert text.index("Contradictions") < text.index("Evidence by tier") < text.index("Coverage")
    assert "STRONG INDICATOR, confidence 0.70" in text
    assert len(picture) > 20_000, "an empty page is smaller"
