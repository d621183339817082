"""The page in a real browser: by mouse, by keyboard, by drag, and what a screen shows."""

from __future__ import annotations

import numpy as np
import pytest

from .browsing import answered, choose, new_page

pytestmark = pytest.mark.xdist_group("app in a browser")


@pytest.fixture(scope="module")
def page(browser, server):
    """One page for all tests of this file, since every session starts a process of its own."""
    page = new_page(browser, server)
    yield page
    page.context.close()


OVERFLOWING = """() => [...document.querySelectorAll("body *")]
    .filter(e => !e.closest(".scroll, .skip, #said, svg, .left")
        && e.getBoundingClientRect().right > innerWidth + 1)
    .map(e => e.outerHTML.slice(0, 80))"""


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
    assert "dose depends significantly more on growth than on height" in answered(page)
    with page.expect_download() as waiting:
        page.click("text=Report (HTML)")
    waiting.value.save_as(tmp_path / "report.html")
    assert "dose depends significantly more" in (tmp_path / "report.html").read_text("utf-8")
    assert page.complaints == []
    outside = [url for url in page.requests if "127.0.0.1" not in url and "data:" not in url]
    assert outside == []


def press_until(page, reached, key="Tab", most=80):
    for _ in range(most):
        if page.evaluate(reached):
            return
        page.keyboard.press(key)
    raise AssertionError(reached)


def test_the_whole_way_by_keyboard_alone(page, plants):
    choose(page, "keys.csv", plants)
    page.locator("#page").focus()
    for column, slot in (("growth", "source"), ("dose", "first"), ("height", "second")):
        label = f"document.activeElement.labels && document.activeElement.labels[0] && \
            document.activeElement.labels[0].textContent === '{column}'"
        page.locator("#find").focus()
        press_until(page, label)
        page.keyboard.press("Space")
        assert page.locator("#selected").inner_text() == "1 ticked"
        press_until(page, f"document.activeElement.id === 'put-{slot}'")
        page.keyboard.press("Enter")
        page.locator("#sentence mark", has_text=column).wait_for()
        # The focus stays where it was, although the page is new.
        assert page.evaluate("document.activeElement.id") == f"put-{slot}"
    assert "growth depends" in answered(page)
    page.locator("#type-second").focus()
    page.keyboard.type("both=height,colour")
    page.keyboard.press("Enter")
    page.locator("#sentence mark", has_text="both").wait_for()
    assert "both" in answered(page)


def test_what_is_half_typed_survives_the_answer(page, plants):
    choose(page, "typed.csv", plants)
    for slot, column in (("source", "growth"), ("first", "dose"), ("second", "height")):
        page.fill(f"#type-{slot}", column)
        page.press(f"#type-{slot}", "Enter")
        page.locator("#sentence mark", has_text=column).wait_for()
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


def test_hostile_names_run_nothing(page):
    hostile = "<script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
    rows = "\n".join(f"{i % 7},{i % 5},{(i * i) % 11}" for i in range(60))
    choose(page, "hostile.csv", f"{hostile},b,c\n{rows}\n")
    page.get_by_label(hostile, exact=True).click()
    page.click("#put-source")
    page.locator("#sentence mark", has_text="hacked").wait_for()
    for slot, column in (("first", "b"), ("second", "c")):
        page.fill(f"#type-{slot}", column)
        page.press(f"#type-{slot}", "Enter")
        page.locator("#sentence mark", has_text=column).first.wait_for()
    assert "<script>window.hacked=1</script>" in answered(page)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x]").count() == 0
    assert page.evaluate(OVERFLOWING) == []


def moved_on(page):
    """Wait until the bar says how much is done."""
    for _ in range(100):
        if page.locator("#progress").evaluate("bar => bar.hasAttribute('value') && bar.value > 0"):
            return
        page.wait_for_timeout(200)
    raise AssertionError("no progress")


def test_many_rows_come_with_a_plan_progress_and_a_cancel_that_stops(page, server):
    import psutil

    numbers = np.random.default_rng(0).normal(size=(100_000, 6)).round(4)
    rows = "\n".join(",".join(map(str, row)) for row in numbers.tolist())
    choose(page, "many.csv", f"a,b,c,d,e,f\n{rows}\n")
    page.locator("#ask").select_option("compare")
    for slot, column in (("source", "a,b"), ("first", "c,d"), ("second", "e,f")):
        page.fill(f"#type-{slot}", f"my {slot}={column}")
        page.press(f"#type-{slot}", "Enter")
        page.locator("#sentence mark", has_text=f"my {slot}").wait_for()
    page.get_by_role("button", name="Compute the answer").wait_for()
    assert (
        "engine" in page.locator("#answer ~ form pre, section form pre").first.inner_text().lower()
    )
    page.get_by_role("button", name="Compute the answer").click()
    page.locator("#progress").wait_for()
    moved_on(page)
    workers = psutil.Process(server.process.pid).children()
    page.click("#cancel")
    page.locator("text=Stopped.").wait_for()
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert len(alive) < len(workers)
    assert not [one for one in alive if one.cpu_percent(0.3) > 50]
