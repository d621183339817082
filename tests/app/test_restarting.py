"""A server that is killed and started again: what stays, what does not, and what the page says."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest

from .browsing import answered, choose, enter, fill, new_page
from .served import Visitor, code, soon


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
    visitor.give("plants.csv", plants)
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
    assert "Open the latest address that reldep app printed" in response.text


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
    enter(page, again)
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


HELPED = """
import subprocess, sys, time
if "reldep.app.jobs" in sys.orig_argv:
    subprocess.Popen(["sleep", "600"])
if "read_in_child" in str(sys.orig_argv):
    time.sleep(600)
"""


@pytest.mark.parametrize("end", ["cancel", signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_ended_work_leaves_no_process_and_no_file(start, plants, tmp_path, end):
    """The process that reads has started others, one to try a file of SPSS: they end with it."""
    import psutil

    (tmp_path / "helped").mkdir()
    (tmp_path / "helped" / "sitecustomize.py").write_text(HELPED)
    path = f"{tmp_path / 'helped'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    server = start(PYTHONPATH=path)
    visitor = Visitor(server)
    visitor.send("GET", "/")  # the page starts the process that reads

    def running():
        return psutil.Process(server.process.pid).children(recursive=True)

    visitor.upload("plants.sav", b"$FL2" + plants.encode())
    soon(lambda: len(running()) == 3)
    children = running()
    assert server.leftovers()
    if end == "cancel":
        visitor.act("/cancel")
    else:
        status, complaints = server.end(end)
        assert "Traceback" not in complaints
        assert (server.leftovers() == []) is (end != signal.SIGKILL)
        if end == signal.SIGINT:
            assert (status, complaints.strip()) == (130, "Stopped.")
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []
