from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

# Several workers have a core each. Threads of the matrix library beyond that wait for one another
# in busy loops, and small matrices take ten times as long. It is read when numpy is loaded.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import matplotlib
import numpy as np
import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))
matplotlib.use("Agg")
settings.register_profile("default", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("default")


def pytest_configure(config):
    # Tests use odd data on purpose; cautions have tests of their own, in tests/checks.
    config.addinivalue_line("filterwarnings", "ignore::reldep.exceptions.ReldepWarning")


REFERENCE = Path(__file__).parent / "reference"


@pytest.fixture(params=sorted(path.stem for path in REFERENCE.glob("*.json")))
def reference(request):
    """One case of the authors' program: raw data, kernels and expected values."""
    return json.loads((REFERENCE / f"{request.param}.json").read_text())


@pytest.fixture
def rng():
    return np.random.default_rng(20150706)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


BROWSER_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")


@pytest.fixture(scope="session")
def browser():
    """A real browser, one for all tests: Playwright runs once in a process.

    Without one the tests that need it are skipped, and say so.
    """
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("no Chromium: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=BROWSER_FLAGS)
        yield chromium
        chromium.close()
