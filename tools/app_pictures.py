"""Take the pictures of the page that the guide shows: python tools/app_pictures.py FOLDER.

Needs the extras app and test, and a Chromium. ``--all`` takes every stage of a visit in three
widths, light and dark, to be looked at before a change to the page is called done.
"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu")
GUIDE = (("app", 1280, "light"), ("app-phone", 390, "dark"))
WIDTHS, SCHEMES = (390, 820, 1440), ("light", "dark")
PATIENCE = 60_000


def main(folder: Path, *, everything: bool) -> None:
    """Start the server and take the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-u", "-m", "reldep", "app", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            with sync_playwright() as driver:
                browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
                if everything:
                    for width in WIDTHS:
                        for scheme in SCHEMES:
                            take_stages(new_page(browser, server, width, scheme), folder)
                else:
                    for name, width, scheme in GUIDE:
                        take_answer(new_page(browser, server, width, scheme), folder, name)
                browser.close()
        finally:
            server.send_signal(signal.SIGINT)


def new_page(browser: Browser, server: subprocess.Popen[str], width: int, scheme: str) -> Page:
    """Open the page in a session of its own, at the next address that the server prints."""
    lines = iter(server.stdout or ())
    address = next(line.rpartition(" ")[2].strip() for line in lines if "http" in line)
    context = browser.new_context(
        viewport={"width": width, "height": 900 if width > 600 else 844},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    page.locator("html.with-script #page").wait_for()
    return page


def take_answer(page: Page, folder: Path, name: str) -> None:
    """Take a picture of the page with the answer about the mice."""
    page.get_by_role("button", name="Try it with the mice").click()
    page.locator("p.answer").wait_for()
    if page.viewport_size and page.viewport_size["width"] < 600:
        page.locator("#answer").evaluate("heading => heading.scrollIntoView()")
    page.screenshot(path=folder / f"{name}.png")
    page.context.close()


def messy_file() -> str:
    """Write a table as it comes from a laboratory: a stray cell, gaps, words, dates."""
    draw = random.Random(3)
    lines = ["patient,arm,dose (mg),marker A,marker B,noise,visit,comment"]
    for i in range(60):
        dose = draw.uniform(0, 10)
        cells = [
            f"P{i:03}",
            "placebo" if dose < 5 else "drug",
            f"{dose:.2f}",
            "" if i == 12 else f"{dose + draw.gauss(0, 1):.3f}",
            "<0.5" if i == 8 else f"{dose + draw.gauss(0, 4):.3f}",
            f"{draw.gauss(0, 1):.3f}",
            f"2024-{i // 28 + 1:02}-{i % 28 + 1:02}",
            f"seen by {draw.choice(['nurse', 'doctor', 'nobody at all'])} {i}",
        ]
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


def take_stages(page: Page, folder: Path) -> None:
    """Take a picture of every stage: no data, data, half a question, answers, an error."""
    size = page.viewport_size
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    ending = f"{size['width'] if size else 0}-{'dark' if dark else 'light'}.png"

    def take(stage: str) -> None:
        page.screenshot(path=folder / f"{stage}-{ending}", full_page=True)

    def put(**places: str) -> None:
        for slot, text in places.items():
            page.fill(f"#type-{slot}", text)
            page.press(f"#type-{slot}", "Enter")
            page.locator(f"[data-slot={slot}] .chips").wait_for()

    take("1-empty")
    file = {"name": "trial.csv", "mimeType": "text/csv", "buffer": messy_file().encode()}
    page.set_input_files("#file", file)  # type: ignore[arg-type]
    page.locator("#size").wait_for()
    take("2-data")
    put(source='"dose (mg)"', first='markers="marker A","marker B"')
    take("3-half")
    put(second="noise")
    page.locator("[role=alert]").wait_for()
    take("4-error")
    page.select_option("#kind-4", "number")
    page.locator(".fault").wait_for(state="detached")
    page.locator("#folded-options summary").click()
    page.select_option("#option-missing", "drop")
    page.select_option("#option-id", label="patient")
    page.get_by_role("button", name="Apply", exact=True).click()
    page.locator("p.answer").wait_for()
    take("5-cautions")
    put(source="noise", first='"marker A"', second='"marker B"')
    page.locator("p.answer", has_text="noise").wait_for()
    take("6-undecided")
    page.context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), everything="--all" in sys.argv)
