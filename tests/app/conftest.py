from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from .served import Server, Visitor

# Every file of tests has one server: its start takes seconds.


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("server"), "--max-upload", "20")
    yield running
    running.end()


@pytest.fixture(scope="module")
def visitor(server):
    return Visitor(server)


@pytest.fixture
def start(tmp_path):
    """Starts servers for one test; those that still run at its end are ended."""
    started = []

    def starting(*options, **more):
        started.append(Server(tmp_path, *options, **more))
        return started[-1]

    yield starting
    for one in started:
        one.end()


@pytest.fixture(scope="session")
def plants():
    """A table of sixty rows in which growth follows the dose closely, and height roughly."""
    rng = np.random.default_rng(0)
    dose = rng.uniform(0, 10, 60)
    rows = ["plant,dose,growth,height,colour"]
    for i, value in enumerate(dose):
        growth, height = value + rng.normal(0, 0.5), value + rng.normal(0, 6)
        colour = "green" if value > 5 else "yellow"
        rows.append(f"p{i},{value:.4f},{growth:.4f},{height:.4f},{colour}")
    return "\n".join(rows) + "\n"
