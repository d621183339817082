"""A server that is killed and started again: what stays, what does not, and what the page says."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest

from .browsing import answered, choose, fill, new_page
from .served import Visitor, code


def killed(server):
    import psutil

    children = psutil.Process(server.process.pid).children(recursive=True)
    server.end(signal.SIGKILL)
    _, alive = psutil.wait_procs(children, timeout=20)
    return children, alive


def test_killed_server_leaves_no_process_and_the_next_one_removes_its_folder(
    start, tmp_path, plants
):
    first, other = start(), start()
    visitor = Visitor(first)
    visitor.upload("plants.csv", plants)
    visitor.settled()
    folders = first.leftovers()
    assert len(folders) == 2
    children, alive = killed(first)
    assert children
    assert alive == []
    assert len(other.leftovers()) == 2  # nobody was there to remove it
    (tmp_path / "reldep-app-link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "reldep-app-starting").mkdir()
    (tmp_path / "reldep-app-forgotten").mkdir()
    long_ago = time.time() - 10_000
    os.utime(tmp_path / "reldep-app-forgotten", (long_ago, long_ago))
    third = start()
    left = set(third.leftovers()) - {"reldep-app-link", "reldep-app-starting"}
    assert len(left) == 2  # its own and that of the server that lives
    assert len(left & set(folders)) == 1
    assert Visitor(other).send("GET", "/").status == 200
    other.end()
    third.end()
    assert set(third.leftovers()) == {"reldep-app-link", "reldep-app-starting"}


def test_old_cookies_mean_nothing_to_a_new_server(start):
    first = start()
    port, old = first.port, Visitor(first).cookie
    first.end()
    again = start("--port", str(port))
    response = Visitor(again, enter=False).send("GET", "/", Cookie=old)
    again.end()
    assert response.status == 403
    assert "Open the address that reldep app printed" in response.text


def test_page_says_that_the_server_ended_and_how_to_go_on(browser, start, plants, tmp_path):
    server = start()
    page = new_page(browser, server)
    choose(page, "plants.csv", plants)
    fill(page, source="dose", first="growth", second="height")
    before = answered(page)
    killed(server)
    page.click("#put-source")
    page.locator("#lost", has_text="The server does not answer: it has ended.").wait_for()
    assert "start reldep app again" in page.locator("#lost").inner_text()
    assert before in page.locator("p.answer").inner_text()  # what was there can still be read
    with page.expect_download() as waiting:
        page.click("text=Save this session >> nth=0")
    waiting.value.save_as(tmp_path / "kept.json")
    assert json.loads((tmp_path / "kept.json").read_text())["files"][0]["name"] == "plants.csv"
    again = start("--port", str(server.port))
    page.click("#put-source")
    page.locator("#lost", has_text="was started again and does not know this page").wait_for()
    page.goto(again.address)
    page.click("#go-on")
    page.locator("text=Now choose its data again: plants.csv").wait_for()
    file = {"name": "plants.csv", "mimeType": "text/csv", "buffer": plants.encode()}
    page.set_input_files("#file", file)
    assert answered(page) == before
    page.context.close()
    # The saved file opens at any address, in any browser.
    other = Visitor(again)
    assert other.send("POST", "/session", (tmp_path / "kept.json").read_text()).status == 200
    other.upload("plants.csv", plants)
    assert code(other.settled(), "command").startswith("reldep compare plants.csv")
    again.end()
    assert again.leftovers() == []


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_ended_server_leaves_nothing(start, plants, sign):
    import psutil

    server = start()
    visitor = Visitor(server)
    visitor.send("GET", "/")  # the page starts the process that reads
    visitor.upload("plants.csv", plants)
    children = psutil.Process(server.process.pid).children(recursive=True)
    assert children
    assert server.leftovers()
    status, complaints = server.end(sign)
    assert "Traceback" not in complaints
    if sign == signal.SIGINT:
        assert (status, complaints.strip()) == (130, "Stopped.")
    assert server.leftovers() == []
    _, alive = psutil.wait_procs(children, timeout=10)
    assert alive == []
