"""Pages in a real browser, and what a person does with them."""

from __future__ import annotations

PATIENCE = 60_000


def new_page(browser, server, width=1280, scheme="light"):
    """Open the page of a server in a browser context of its own."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.complaints, page.requests = [], []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda request: page.requests.append(request.url))
    enter(page, server)
    return page


def enter(page, server):
    """Open the address that a server printed, which works once."""
    page.goto(server.address)
    page.locator("html.with-script #page").wait_for()
    server.read_address()


def choose(page, name, content):
    """Choose a file, and wait until it was read."""
    page.locator("#other").evaluate_all("all => all.forEach(d => { d.open = true; })")
    file = {"name": name, "mimeType": "text/csv", "buffer": content.encode()}
    page.set_input_files("#file", file)
    page.locator("#size", has_text=name).wait_for()


def fill(page, **places):
    """Write columns into places, one after the other."""
    for slot, text in places.items():
        page.fill(f"#type-{slot}", text)
        page.press(f"#type-{slot}", "Enter")
        page.locator(f"[data-slot={slot}] .chips").wait_for()


def answered(page):
    """Wait for the answer and give its sentence."""
    page.locator("p.answer").wait_for()
    return page.locator("p.answer").inner_text()
