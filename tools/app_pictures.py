"""Take the pictures of the page that the guide shows: python tools/app_pictures.py FOLDER.

Needs the extras app and test, and a Chromium.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu")
GUIDE = (("app", 1280, "light"), ("app-phone", 390, "dark"))
PATIENCE = 60_000


def main(folder: Path) -> None:
    """Start the server and take the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-u", "-m", "reldep", "app", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            with sync_playwright() as driver:
                browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
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


if __name__ == "__main__":
    main(Path(sys.argv[1]))
