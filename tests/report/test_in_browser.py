"""The report in a real browser: nothing outside, no errors, no overflow, the answer in sight."""

from __future__ import annotations

import pytest


@pytest.fixture
def opened(browser, tmp_path):
    """Open a report and give the page with what it complained of and asked for."""
    contexts = []

    def open_report(html, width=1200, scheme="light"):
        path = tmp_path / "report.html"
        path.write_text(html, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.complaints, page.requests = [], []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("request", lambda request: page.requests.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_report
    for context in contexts:
        context.close()


def outside(page):
    return [url for url in page.requests if not url.startswith(("data:", "file:"))]


OVERFLOWING = """() => [...document.querySelectorAll("body *")]
    .filter(e => !e.closest(".scroll") && e.getBoundingClientRect().right > innerWidth + 1)
    .map(e => e.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("kind", ["comparison", "ranking", "contrast", "dependence", "hostile"])
def test_report_opens_cleanly_and_shows_the_answer(opened, answers, hostile, pages, kind, width):
    page = opened(pages[kind], width)
    assert page.complaints == []
    assert outside(page) == []
    said = {**answers, "hostile": hostile}[kind].sentence().replace("\x00\x1b", "\ufffd" * 2)
    assert page.locator("p.answer").inner_text() == said
    assert page.locator("script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OVERFLOWING) == []
    # All pictures are decoded.
    widths = page.evaluate("[...document.images].map(i => i.complete && i.naturalWidth)")
    assert widths
    assert all(width > 200 for width in widths)


def test_dark_readers_get_a_dark_page_with_pictures_on_white(opened, pages):
    page = opened(pages["comparison"], scheme="dark")
    background = "e => getComputedStyle(e).backgroundColor"
    assert page.locator("body").evaluate(background) == "rgb(22, 24, 28)"
    assert page.locator("img").first.evaluate(background) == "rgb(255, 255, 255)"


def test_page_prints_on_a_few_sheets(opened, pages):
    page = opened(pages["comparison"], scheme="dark")
    page.emulate_media(media="print")
    assert page.locator("body").evaluate("e => getComputedStyle(e).color") == "rgb(0, 0, 0)"
    sheets = page.pdf(format="A4").count(b"/Type /Page\n")
    assert 1 <= sheets <= 5
