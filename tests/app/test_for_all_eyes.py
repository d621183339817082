"""The page for those who do not see it, on small screens, and in the dark."""

from __future__ import annotations

from pathlib import Path

import pytest

from .browsing import answered, choose, fill, new_page

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
UNFOLD = "all => all.forEach(d => { d.open = true; })"


@pytest.fixture
def page(browser, server):
    opened = new_page(browser, server)
    yield opened
    opened.context.close()


def serious(page):
    """Let axe-core look at all that can be unfolded, by day and by night."""
    page.locator("details").evaluate_all(UNFOLD)
    page.evaluate(AXE.read_text("utf-8"))
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        violations = page.evaluate("axe.run().then(r => r.violations)")
        found += [
            (scheme, one["id"], [node["html"][:120] for node in one["nodes"]][:3])
            for one in violations
            if one["impact"] in ("serious", "critical")
        ]
    return found


@pytest.mark.skipif(not AXE.exists(), reason="no axe-core: .ci/run installs it by npm")
def test_axe_finds_nothing_serious(page, plants):
    assert serious(page) == [], "the page without data"
    few = "\n".join(plants.splitlines()[:28]) + "\n"  # few rows bring a caution
    choose(page, "stray.csv", few.replace("\np9,", "\np9,?x?,1,2,green\nq9,"))
    assert page.locator(".fault").count() == 1
    assert serious(page) == [], "the data, with a cell that does not fit"
    fill(page, source="growth", second="both=height,colour")
    assert serious(page) == [], "the question, half filled"
    fill(page, source="dose", first="growth", second="both=height,colour")
    page.locator("[role=alert]").wait_for()
    assert serious(page) == [], "an error"
    page.select_option("#kind-1", "number")
    page.locator(".fault").wait_for(state="detached")
    page.locator("#folded-options").evaluate_all(UNFOLD)
    page.select_option("#option-missing", "drop")
    page.get_by_role("button", name="Apply", exact=True).click()
    assert "dose is more closely related to growth" in answered(page)
    assert page.locator(".caution").count() > 0
    assert serious(page) == [], "the answer, with a caution"


OVERFLOWING = """() => [...document.querySelectorAll("body *")]
    .filter(e => !e.closest(".scroll, .skip, #said, svg, .left")
        && e.getBoundingClientRect().right > innerWidth + 1)
    .map(e => e.outerHTML.slice(0, 80))"""
# Every control has a name that a screen reader can say, and no two parts share an id.
NAMELESS = """() => {
    const named = e => e.labels?.length || e.getAttribute("aria-label")
        || e.getAttribute("aria-labelledby") || e.textContent.trim() || e.alt;
    const controls = [...document.querySelectorAll(
        "button, input:not([type=hidden]), select, textarea, a, img, progress, [role=group]")];
    const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
    return [...controls.filter(e => !named(e)).map(e => e.outerHTML),
            ...ids.filter((id, i) => ids.indexOf(id) !== i)];
}"""
LONG = "a_very_long_name_without_any_place_to_break_" * 4


def test_page_fits_every_screen_by_day_and_by_night(page, plants):
    def fits():
        page.locator("details").evaluate_all(UNFOLD)
        for width in (320, 390, 820, 1440):
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.evaluate(OVERFLOWING) == []
            assert page.evaluate(NAMELESS) == []

    fits()
    choose(page, "long.csv", plants.replace("growth", LONG))
    fits()
    fill(page, source="dose", first=LONG, second="height")
    assert LONG in answered(page)
    fits()
    backgrounds = set()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        backgrounds.add(page.locator("body").evaluate("e => getComputedStyle(e).backgroundColor"))
    assert backgrounds == {"rgb(255, 255, 255)", "rgb(22, 24, 28)"}
