"""A server in a process of its own, and a client that sends exactly what it is told to."""

from __future__ import annotations

import html
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from urllib.parse import urlencode, urlsplit

from flattened import flat


class Server:
    """``reldep app`` as a user starts it, with more variables in its environment."""

    def __init__(self, folder, *options, browser="", **more):
        self.folder = folder
        environment = {**os.environ, "TMPDIR": str(folder), "PYTHONUNBUFFERED": "1", **more}
        shown = ["--browser"] if browser else ["--no-browser"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "reldep", "app", *shown, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**environment, "BROWSER": browser},
            start_new_session=True,
        )
        self.address = ""
        self.read_address()
        self.process.stdout.readline()
        if not self.address.startswith("http"):
            raise RuntimeError(self.end())

    def read_address(self):
        """Read the address that opens the page, which it does once."""
        self.address = self.process.stdout.readline().rpartition(" ")[2].strip()

    @property
    def port(self):
        return urlsplit(self.address).port

    @property
    def path(self):
        """What all addresses begin with."""
        return urlsplit(self.address).path.removesuffix("/open")

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.port}"

    def end(self, sign=signal.SIGINT):
        """End the server as Ctrl-C does and give its exit status and its complaints."""
        if self.process.poll() is None:
            self.process.send_signal(sign)
        if not self.process.stderr.closed:
            _, self.complaints = self.process.communicate(timeout=30)
        return self.process.returncode, self.complaints

    def leftovers(self):
        return [path.name for path in self.folder.iterdir() if path.name.startswith("reldep-app")]


ENTERING = threading.Lock()


class Visitor:
    """A browser without eyes: it keeps its cookie and says where its requests come from."""

    def __init__(self, server, *, enter=True):
        self.server = server
        self.cookie = ""
        if enter:
            with ENTERING:
                response = self.send("GET", f"/open?{urlsplit(server.address).query}")
                self.set_cookie = response.headers["set-cookie"]
                self.cookie = self.set_cookie.partition(";")[0]
                server.read_address()

    def send(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        given = {"Host": f"127.0.0.1:{self.server.port}"}
        if self.cookie:
            given["Cookie"] = self.cookie
        if method == "POST":
            given["Origin"] = self.server.origin
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        given = {name: value for name, value in given.items() if value is not None}
        connection.request(method, self.server.path + path, body, given)
        response = connection.getresponse()
        response.text = response.read().decode("utf-8", "replace")
        connection.close()
        return response

    def act(self, path, **fields):
        body = urlencode(fields, doseq=True)
        return self.send("POST", path, body, Content_Type="application/x-www-form-urlencoded")

    def upload(self, name, content):
        return self.send("POST", f"/upload?{urlencode({'name': name})}", content)

    def give(self, name, content):
        """Upload a file, wait until it was read, and return the page."""
        self.upload(name, content)
        return self.settled()

    def do(self, path, **fields):
        """Act, wait until the work is done, and return the page."""
        self.act(path, **fields)
        return self.settled()

    def fill(self, **places):
        """Write columns into places, wait for the answer, and return the page."""
        for slot, texts in places.items():
            for text in [texts] if isinstance(texts, str) else texts:
                self.act("/place", slot=slot, text=text)
        return self.settled()

    def settled(self, seconds=90):
        """Wait until no work is under way and give the page."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not json.loads(self.send("GET", "/job").text)["busy"]:
                return self.send("GET", "/").text
            time.sleep(0.1)
        raise TimeoutError(self.send("GET", "/").text[:500])


def soon(holds, seconds=30):
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.05)


def code(page, name):
    """Find the code on a page: "python" or "command"."""
    found = re.search(rf'id="{name}-code"[^>]*>(.*?)</pre>', page, re.S)
    assert found, complaints(page)
    return html.unescape(found[1])


def complaints(page):
    """Find what a page says went wrong."""
    return [html.unescape(text) for text in re.findall(r'role="alert"[^>]*>(.*?)</p>', page, re.S)]


def latest(visitor, page, name):
    """Get a file of the answer that a page shows."""
    found = re.search(rf"answers/\d+/{re.escape(name)}", page)
    assert found, complaints(page)
    return visitor.send("GET", f"/{found[0]}")


def numbers(values):
    """Return the numbers of an answer by their places, without how it was computed."""
    return dict(flat(values, {"provenance", "warnings", "call", "seconds"}))
