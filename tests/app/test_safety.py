"""Who may talk to the server, and what it does with what it is given.

Each test stands for a sentence of SECURITY.md.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from .served import Visitor, complaints, soon


def test_page_needs_the_token(server):
    stranger = Visitor(server, enter=False)
    for path in ("/", "/open?token=wrong", "/open", "/static/app.js"):
        assert stranger.send("GET", path).status == 403
    assert stranger.send("GET", "/", Cookie="reldep=guessed").status == 403


def test_token_works_once_and_becomes_a_strict_cookie_under_a_random_path(server):
    opening = f"/open?{urlsplit(server.address).query}"
    first = Visitor(server)
    assert first.set_cookie.lower().split("; ")[1:] == [
        "httponly",
        f"path={server.path}/",
        "samesite=strict",
    ]
    assert len(server.path) > 20
    assert Visitor(server, enter=False).send("GET", opening).status == 403
    assert first.send("GET", opening).status == 200  # the browser that is in stays in
    second = Visitor(server)
    assert first.cookie != second.cookie
    assert opening.partition("token=")[2] not in first.cookie
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("GET", "/", headers={"Cookie": first.cookie})
    assert connection.getresponse().status == 403
    connection.close()


@pytest.mark.parametrize("others", ['foo={"x":1}', "a=b=c; =; ;x", 'q="', "reldep2=1", "\x7f=ÿ"])
def test_cookies_of_other_programs_do_not_lock_anybody_out(visitor, others):
    given = f"{others}; {visitor.cookie}; {others}".encode("latin1")
    assert visitor.send("GET", "/", Cookie=given).status == 200


BROWSER = """#!{python}
import os, pathlib, sys, time
os.closerange(0, 3)
pathlib.Path({seen!r}).write_text(" ".join(sys.argv[1:]))
time.sleep(600)  # longer than anybody waits
"""


def test_browser_gets_a_private_file_and_is_not_waited_for(start, tmp_path):
    """Everybody can read what a process is started with; a browser may stay in the terminal."""
    seen, script = tmp_path / "seen", tmp_path / "browser"
    script.write_text(BROWSER.format(python=sys.executable, seen=str(seen)))
    script.chmod(0o755)
    server = start(browser=f"{script} %s")
    soon(lambda: seen.exists() and seen.read_text())
    given = seen.read_text()
    assert given.startswith("file://")
    assert "token" not in given
    file = Path(unquote(urlsplit(given).path))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert server.address in file.read_text()
    assert Visitor(server).send("GET", "/").status == 200
    assert server.address in file.read_text()  # the next one
    server.end()
    assert server.leftovers() == []


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", ""])
def test_foreign_hosts_are_refused_even_with_the_cookie(server, visitor, host):
    assert visitor.send("GET", "/", Host=host.format(port=server.port)).status in (400, 421)
    assert visitor.send("GET", "/", Host=f"localhost:{server.port}").status == 200


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
def test_only_a_host_that_is_asked_for_listens_beyond_this_machine(server, start):
    """As in a container: the port is open, but names and the token count all the same."""
    elsewhere = "127.0.0.2"
    with pytest.raises(OSError, match="refused"):
        http.client.HTTPConnection(elsewhere, server.port, timeout=5).request("GET", "/")
    opened = start("--host", "0.0.0.0")  # noqa: S104
    visitor = Visitor(opened)
    for host, status in ((f"127.0.0.1:{opened.port}", 200), (f"{elsewhere}:{opened.port}", 421)):
        connection = http.client.HTTPConnection(elsewhere, opened.port, timeout=5)
        given = {"Host": host, "Cookie": visitor.cookie}
        connection.request("GET", f"{opened.path}/", headers=given)
        assert connection.getresponse().status == status
        connection.close()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": None},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": None, "Sec_Fetch_Site": "none"},
    ],
)
def test_changes_need_our_own_page(visitor, headers):
    for path in ("/mice", "/upload?name=a.csv", "/cancel", "/session"):
        assert visitor.send("POST", path, b"", **headers).status == 403


def test_every_answer_forbids_what_is_not_our_own(visitor):
    for path in ("/", "/job", "/static/app.js", "/nowhere"):
        headers = visitor.send("GET", path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"


def test_files_lie_where_only_their_owner_can_look(server, visitor, plants):
    assert "60 rows" in visitor.give("../../../-x;rm *.csv", plants.encode())
    folders = list(server.folder.glob("reldep-app-*"))
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700]
    assert [path.name for path in server.folder.glob("reldep-app-*/*/data/*")] == ["x_rm _.csv"]


@pytest.mark.parametrize(
    "name", ["numpy.py", "..", "", "a.pkl", "x.csv.exe", "/etc/passwd", ".numba_config.yaml"]
)
def test_files_of_other_kinds_are_not_stored(visitor, name):
    assert visitor.upload(name, b"import os").status == 400


def test_too_large_file_is_refused_with_and_without_its_length(visitor, server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    for length in (str(10**12), "9" * 5_000):
        headers = {"Cookie": visitor.cookie, "Origin": server.origin, "Content-Length": length}
        connection.request("POST", f"{server.path}/upload?name=a.csv", b"", headers)
        assert connection.getresponse().status in (400, 413)
        connection.close()
    stored = set(server.folder.glob("reldep-app-*/*/data/*"))
    response = visitor.send("POST", "/upload?name=a.csv", (b"1,2\n" * 10**6 for _ in range(6)))
    assert response.status == 400
    assert "larger than 20,000,000 bytes" in response.text
    assert set(server.folder.glob("reldep-app-*/*/data/*")) == stored


def test_upload_that_breaks_off_leaves_the_file_of_the_same_name(server, plants):
    visitor = Visitor(server)
    assert "60 rows" in visitor.give("plants.csv", plants)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.putrequest("POST", f"{server.path}/upload?name=plants.csv")
    given = {"Cookie": visitor.cookie, "Origin": server.origin, "Content-Length": "1000000"}
    for name, value in given.items():
        connection.putheader(name, value)
    before = set(server.folder.rglob("*"))
    connection.endheaders(b"a,b\n" * 1000)
    soon(lambda: set(server.folder.rglob("*")) - before)
    connection.close()
    soon(lambda: set(server.folder.rglob("*")) == before)
    assert "60 rows" in visitor.do("/reading", header="yes")


CHOICES = {"question": "compare", "slots": {"source": ["dose"]}, "options": {"missing": "drop"}}
SESSION = {"schema": "reldep.session/1", "files": [], "choices": CHOICES, "answers": []}
ODD = [None, 1, "x", [], {}, [1], {"a": 1}, "9" * 5000, [[]], {"source": None}, {"missing": []}]
SHAPES = [
    *({**SESSION, key: odd} for key in ("files", "answers") for odd in ODD if odd != []),
    *({**SESSION, "choices": odd} for odd in ODD if odd != {}),
    *({**SESSION, "choices": {**CHOICES, "slots": odd}} for odd in ODD if odd != {}),
    *({**SESSION, "choices": {**CHOICES, "options": odd}} for odd in ODD if odd != {}),
    *({**SESSION, "choices": {**CHOICES, "reading": odd}} for odd in ODD if odd != {}),
    *({**SESSION, "choices": {**CHOICES, "kinds": odd}} for odd in ODD if odd != {}),
    *({**SESSION, "choices": {**CHOICES, "options": {"where": odd}}} for odd in (*ODD[:3], {})),
    *({**SESSION, "choices": {**CHOICES, "alpha": odd}} for odd in (None, "x", 0, 1, -1, [])),
    *({**SESSION, "choices": {**CHOICES, "question": odd}} for odd in ODD),
    {**SESSION, "choices": {**CHOICES, "covariates": "yes"}},
    {**SESSION, "files": [{"name": "../x", "sha256": "a"}]},
    {**SESSION, "answers": [CHOICES, {**CHOICES, "slots": {"nowhere": ["a"]}}]},
    *(None, [], 3, {"schema": "reldep.session/1"}, {**SESSION, "schema": "reldep.session/9"}),
]
TEXTS = ["", "{", "[" * 100_000, '{"a": ' + "1" * 5_000 + "}", '{"schema": NaN}', "\x00", "\udcff"]


def test_session_files_of_another_shape_change_nothing(server, plants):
    visitor = Visitor(server)
    visitor.give("plants.csv", plants)
    visitor.act("/place", slot="source", text="dose")
    before = visitor.send("GET", "/").text
    for text in [*map(json.dumps, SHAPES), *TEXTS]:
        response = visitor.send("POST", "/session", text.encode("utf-8", "surrogateescape"))
        assert response.status == 400, text[:300]
        assert complaints(response.text), text[:300]
    visitor.act("/cancel")
    assert visitor.send("GET", "/").text == before


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/take-out", {"slot": "source", "position": "9" * 5_000}),
        ("/take-out", {"slot": "source", "position": "-1"}),
        ("/rename", {"slot": "source", "position": "²", "name": "a"}),
        ("/place", {"slot": "source", "column": "9" * 5_000}),
        ("/place", {"slot": "source", "column": "²"}),
        ("/place", {"slot": "source", "column": "999"}),
        ("/place", {"slot": "nowhere", "column": "1"}),
        ("/place", {"slot": "source"}),
        ("/place", {"slot": "source", "text": "x" * 100_000}),
        ("/show", {"number": "9" * 5_000}),
        ("/options", {"alpha": "9" * 5_000}),
        ("/options", {"alpha": "nan"}),
        ("/options", {"alpha": "much"}),
        ("/options", {"alpha": "2"}),
        ("/options", {"clusters": "9" * 5_000, "alpha": "0.05"}),
        ("/kinds", {"kind-" + "9" * 5_000: "number"}),
        ("/kinds", {"kind-0": "colour"}),
        ("/ask", {"question": "x" * 5_000}),
        ("/upload?name=" + "x" * 5_000, {}),
    ],
    ids=lambda given: str(given)[:60],
)
def test_odd_forms_are_refused_in_words(visitor, plants, path, fields):
    visitor.give("plants.csv", plants)
    response = visitor.act(path, **fields)
    assert response.status == 400
    assert len(complaints(response.text)) == 1
    assert visitor.send("GET", "/").status == 200


def test_names_longer_than_a_file_system_takes_are_cut(visitor, plants, server):
    assert "60 rows" in visitor.give("Ω" * 500 + "é.csv", plants)
    names = [path.name for path in server.folder.glob("reldep-app-*/*/data/Ω*")]
    assert len(names) == 1
    assert len(os.fsencode(names[0])) <= 255
    assert names[0].endswith("Ωé.csv")


def test_mice_at_once_and_again_are_the_mice(server):
    visitor = Visitor(server)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: visitor.act("/mice").status, range(8)))
    assert answers == [200] * 8
    assert re.search(r"mice\.csv</strong>: 40 rows", visitor.settled())


def test_port_in_use_is_an_error_in_words(server):
    command = [sys.executable, "-m", "reldep", "app", "--no-browser", "--port", str(server.port)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "in use" in done.stderr
