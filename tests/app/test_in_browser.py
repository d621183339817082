"""The page in a real browser: by mouse, by keyboard, by drag, and what a screen shows."""

from __future__ import annotations

import numpy as np
import pytest

from .browsing import answered, choose, fill, new_page

playwright = pytest.importorskip("playwright.sync_api")


@pytest.fixture
def page(browser, server):
    page = new_page(browser, server)
    yield page
    page.context.close()


def test_from_a_dropped_file_to_a_downloaded_report_by_mouse(page, plants, tmp_path):
    drop = """([name, text]) => {
        const data = new DataTransfer();
        data.items.add(new File([text], name, { type: "text/csv" }));
        for (const kind of ["dragover", "drop"]) {
            document.getElementById("drop").dispatchEvent(
                new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
        }
    }"""
    page.evaluate(drop, ["plants.csv", plants])
    page.locator("#size", has_text="60 rows, 5 columns").wait_for()
    page.get_by_label("dose", exact=True).click()
    page.click("#put-source")
    page.locator("#sentence mark", has_text="dose").wait_for()
    page.get_by_label("growth", exact=True).click()
    page.locator("[data-slot=first] h3").click()
    page.locator("#sentence mark", has_text="growth").wait_for()
    row = page.locator("#columns tr", has_text="height")
    row.drag_to(page.locator("[data-slot=second]"))
    assert "dose is more closely related to growth than to height" in answered(page)
    with page.expect_download() as waiting:
        page.click("text=Report (HTML)")
    waiting.value.save_as(tmp_path / "report.html")
    assert "dose is more closely related" in (tmp_path / "report.html").read_text("utf-8")
    assert page.complaints == []
    outside = [url for url in page.requests if "127.0.0.1" not in url and "data:" not in url]
    assert outside == []


def press_until(page, reached, key="Tab", most=80):
    for _ in range(most):
        if page.evaluate(reached):
            return
        page.keyboard.press(key)
    raise AssertionError(reached)


def is_label(column):
    return f"""(document.activeElement.labels && document.activeElement.labels[0] &&
        document.activeElement.labels[0].textContent === '{column}')"""


def open_chooser(page, tries=6):
    """Press keys until the dialog comes: a browser without a screen may overlook the first."""
    for number in range(tries):
        try:
            with page.expect_file_chooser(timeout=5_000) as choosing:
                page.keyboard.press(("Enter", "Space")[number % 2])
        except playwright.TimeoutError:
            continue
        return choosing.value
    raise AssertionError("no dialog for files came")


def test_the_whole_way_by_keyboard_alone(page, plants, tmp_path):
    press_until(page, "document.activeElement.id === 'file'")
    file = {"name": "keys.csv", "mimeType": "text/csv", "buffer": plants.encode()}
    open_chooser(page).set_files(file)
    page.locator("#size", has_text="keys.csv").wait_for()
    for column, slot in (("growth", "source"), ("dose", "first"), ("height", "second")):
        press_until(page, "document.activeElement.id === 'find'", "Shift+Tab")
        press_until(page, is_label(column))
        page.keyboard.press("Space")
        assert page.locator("#selected").inner_text() == "1 ticked"
        press_until(page, f"document.activeElement.id === 'put-{slot}'")
        page.keyboard.press("Enter")
        page.locator("#sentence mark", has_text=column).wait_for()
        # The focus stays where it was, although the page is new.
        assert page.evaluate("document.activeElement.id") == f"put-{slot}"
    assert "growth is more closely related" in answered(page)
    press_until(page, "document.activeElement.id === 'type-second'")
    page.keyboard.type("both=height,colour")
    page.keyboard.press("Enter")
    page.locator("#sentence mark", has_text="both").wait_for()
    assert "both" in answered(page)
    press_until(page, "document.activeElement.textContent === 'Report (HTML)'")
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    waiting.value.save_as(tmp_path / "report.html")
    assert "growth is more closely related to dose" in (tmp_path / "report.html").read_text()


def test_what_is_half_typed_survives_the_answer(page, plants):
    choose(page, "typed.csv", plants)
    fill(page, source="growth", first="dose", second="height")
    page.locator("#type-first").press_sequentially("gro", delay=300)
    answered(page)
    page.locator("#type-first").press_sequentially("wth", delay=50)
    assert page.locator("#type-first").input_value() == "growth"
    page.fill("#type-first", "")


def test_columns_are_found_and_ticked_together(page, plants):
    choose(page, "found.csv", plants)
    page.fill("#find", "*h*")
    page.click("#select-shown")
    assert page.locator("#selected").inner_text() == "2 ticked"
    page.click("#clear")
    page.fill("#find", "")
    assert page.locator("#columns tr:visible").count() == 5


def moved_on(page):
    """Wait until the bar says how much is done."""
    for _ in range(300):
        if page.locator("#progress").evaluate("bar => bar.hasAttribute('value') && bar.value > 0"):
            return
        page.wait_for_timeout(200)
    raise AssertionError("no progress")


def test_many_rows_come_with_a_plan_progress_and_a_cancel_that_stops(page, server):
    import psutil

    numbers = np.random.default_rng(0).integers(0, 1000, size=(40_000, 6))
    rows = "\n".join(",".join(map(str, row)) for row in numbers.tolist())
    choose(page, "many.csv", f"a,b,c,d,e,f\n{rows}\n")
    assert "40,000 rows" in page.locator("#size").inner_text()
    fill(page, source="my source=a,b", first="my first=c,d", second="my second=e,f")
    page.get_by_role("button", name="Compute the answer").wait_for()
    assert "engine" in page.locator("section form pre").first.inner_text().lower()
    workers = psutil.Process(server.process.pid).children()
    page.get_by_role("button", name="Compute the answer").click()
    page.locator("#progress").wait_for()
    moved_on(page)
    page.click("#cancel")
    page.locator("text=Stopped.").wait_for()
    gone, alive = psutil.wait_procs(workers, timeout=10)
    assert len(gone) == 1
    assert not [one for one in alive if one.cpu_percent(0.3) > 50]
    page.get_by_role("button", name="Compute the answer").wait_for()  # it can be asked again
