"""Who may talk to the server, and what it does with what it is given."""

from __future__ import annotations

import http.client
import stat
import subprocess
import sys

import pytest

from .served import Visitor, soon


def test_page_needs_the_token(server):
    stranger = Visitor(server, enter=False)
    assert stranger.send("GET", "/").status == 403
    assert stranger.send("GET", "/open?token=wrong").status == 403
    assert stranger.send("GET", "/open").status == 403
    assert stranger.send("GET", "/", Cookie=f"reldep-{server.port}=guessed").status == 403


def test_token_becomes_a_strict_cookie_of_its_own(server):
    first, second = Visitor(server), Visitor(server)
    assert "HttpOnly" in first.set_cookie
    assert "samesite=strict" in first.set_cookie.lower()
    assert first.cookie != second.cookie
    token = server.address.partition("token=")[2]
    assert token not in first.cookie


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "", None])
def test_foreign_hosts_are_refused_even_with_the_cookie(server, visitor, host):
    given = None if host is None else host.format(port=server.port)
    if host is None:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.putrequest("GET", "/", skip_host=True)
        connection.putheader("Cookie", visitor.cookie)
        connection.endheaders()
        assert connection.getresponse().status in (400, 421)
        connection.close()
        return
    assert visitor.send("GET", "/", Host=given).status in (400, 421)
    assert visitor.send("GET", "/", Host=f"localhost:{server.port}").status == 200


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
def test_only_a_host_that_is_asked_for_listens_beyond_this_machine(server, start):
    """As in a container: the port is open, but names and the token count all the same."""
    elsewhere = "127.0.0.2"
    with pytest.raises(OSError, match="refused"):
        http.client.HTTPConnection(elsewhere, server.port, timeout=5).request("GET", "/")
    opened = start("--host", "0.0.0.0")  # noqa: S104
    visitor = Visitor(opened)
    assert visitor.send("GET", "/").status == 200
    for host, status in ((f"127.0.0.1:{opened.port}", 200), (f"{elsewhere}:{opened.port}", 421)):
        connection = http.client.HTTPConnection(elsewhere, opened.port, timeout=5)
        connection.request("GET", "/", headers={"Host": host, "Cookie": visitor.cookie})
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
@pytest.mark.parametrize("path", ["/mice", "/upload?name=a.csv", "/cancel", "/session"])
def test_changes_need_our_own_page(visitor, headers, path):
    assert visitor.send("POST", path, b"", **headers).status == 403


def test_every_answer_forbids_what_is_not_our_own(visitor):
    for path in ("/", "/job", "/static/app.js", "/nowhere"):
        headers = visitor.send("GET", path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"


def test_only_this_machine_can_connect(server):
    import psutil

    listening = [
        one.laddr
        for one in psutil.Process(server.process.pid).net_connections()
        if one.status == "LISTEN"
    ]
    assert listening == [("127.0.0.1", server.port)]


def test_too_large_file_is_refused_with_and_without_its_length(server, visitor):
    large = b"a,b\n" + b"1,2\n" * 6_000_000
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    headers = {"Cookie": visitor.cookie, "Origin": server.origin, "Content-Length": str(10**12)}
    connection.request("POST", "/upload?name=a.csv", b"", headers)
    assert connection.getresponse().status == 413
    connection.close()

    def pieces():
        for start in range(0, len(large), 1 << 20):
            yield large[start : start + (1 << 20)]

    response = visitor.send("POST", "/upload?name=a.csv", pieces())
    assert response.status == 400
    assert "larger than 20,000,000 bytes" in response.text
    assert not list(server.folder.glob("reldep-app-*/*/data/*"))


@pytest.mark.parametrize("name", ["numpy.py", "..", "", "a.pkl", "x.csv.exe", "/etc/passwd"])
def test_files_of_other_kinds_are_not_stored(visitor, name):
    assert visitor.upload(name, b"import os").status == 400


def test_files_lie_where_only_their_owner_can_look(server, visitor, plants):
    visitor.upload("plants.csv", plants.encode())
    visitor.settled()
    folders = list(server.folder.glob("reldep-app-*"))
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700]


def test_half_an_upload_is_not_kept(server):
    visitor = Visitor(server)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.putrequest("POST", "/upload?name=half.csv")
    for name, value in (
        ("Cookie", visitor.cookie),
        ("Origin", server.origin),
        ("Content-Length", "1000000"),
    ):
        connection.putheader(name, value)
    connection.endheaders(b"a,b\n" * 1000)

    def stored():
        return list(server.folder.glob("reldep-app-*/*/data/half.csv"))

    soon(stored)
    connection.close()
    soon(lambda: not stored())
    assert "Reading" not in visitor.send("GET", "/").text


def test_file_names_stay_in_their_folder(server, visitor, plants):
    visitor.upload("../../../-x;rm *.csv", plants.encode())
    assert "60 rows" in visitor.settled()
    assert [path.name for path in server.folder.glob("reldep-app-*/*/data/*")] == ["x_rm _.csv"]


def test_port_in_use_is_an_error_in_words(server):
    command = [sys.executable, "-m", "reldep", "app", "--no-browser", "--port", str(server.port)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "in use" in done.stderr
