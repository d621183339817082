"""How fast and how small a scan of thousands of sources is, beside a loop over compare.

Run ``python benchmarks/scan.py`` (``--sources``, ``--rows`` and ``--compared`` change the sizes).
Times are of the processor as well as of the clock: on a busy machine only the first compare. A
loop over compare is timed on a few sources and multiplied.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings

import numpy as np

import reldep
from reldep.kernels import Laplace


def main() -> None:
    """Print one line for the scan, one for the loop, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=int, default=20_000)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--compared", type=int, default=50)
    sizes = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, sizes.rows))
    sources = rng.normal(size=(sizes.rows, sizes.sources))
    sources[:, : sizes.sources // 20] += first[:, None]
    kernel = Laplace(bandwidth="mean")
    # Compiled code is loaded, or made, before the clock starts.
    reldep.scan(sources[:, :100], first, second, kernel=kernel)
    before = _peak()
    found = reldep.scan(sources, first, second, kernel=kernel)
    scanned = _timed(lambda: reldep.scan(sources, first, second, kernel=kernel))
    extra = _peak() - before

    def loop() -> None:
        for column in sources.T[: sizes.compared]:
            reldep.compare(column, first, second, kernel=kernel)

    looped = [seconds / sizes.compared * sizes.sources for seconds in _timed(loop)]
    print(f"{sizes.sources:,} sources of {sizes.rows} rows; {found.is_discovery().sum():,} found")
    print(f"scan:             {scanned[0]:8.1f} s processor, {scanned[1]:8.1f} s clock")
    print(f"loop over compare:{looped[0]:8.1f} s processor, {looped[1]:8.1f} s clock")
    ratios = looped[0] / scanned[0], looped[1] / scanned[1]
    print(f"ratio:            {ratios[0]:8.1f}              {ratios[1]:8.1f}")
    print(f"memory beside the data, at most: {extra / 1e6:.0f} MB")


def _timed(work) -> tuple[float, float]:
    processor, clock = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - processor, time.perf_counter() - clock


def _peak() -> float:
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
