"""Take the pictures of the page that the guide shows: python tools/app_pictures.py FOLDER.

Needs the extras app and test, and a Chromium; ``--all`` takes three widths, light and dark.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu")
GUIDE = (("app", 1280, "light"), ("app-phone", 390, "dark"))
ALL = tuple((f"app-{w}-{s}", w, s) for w in (390, 820, 1280) for s in ("light", "dark"))


def main(folder: Path, pictures: tuple[tuple[str, int, str], ...]) -> None:
    """Start the server, ask about the mice and take the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-u", "-m", "reldep", "app", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        address = (server.stdout.readline() if server.stdout else "").rpartition(" ")[2].strip()
        try:
            with sync_playwright() as driver:
                browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
                for name, width, scheme in pictures:
                    take(browser, address, folder / f"{name}.png", width, scheme)
                browser.close()
        finally:
            server.send_signal(signal.SIGINT)


def take(browser: Browser, address: str, path: Path, width: int, scheme: str) -> None:
    """Take one picture of the page with an answer."""
    context = browser.new_context(
        viewport={"width": width, "height": 900 if width > 600 else 844},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    page.goto(address)
    page.get_by_role("button", name="Try it with the mice").click()
    page.locator("p.answer").wait_for(timeout=60_000)
    if width < 600:
        page.locator("#answer").evaluate("heading => heading.scrollIntoView()")
    page.screenshot(path=path, full_page="--all" in sys.argv)
    context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), ALL if "--all" in sys.argv else GUIDE)
