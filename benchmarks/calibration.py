"""Measure by simulation how far p-values, intervals and plans can be trusted.

Usage::

    export OMP_NUM_THREADS=1
    python benchmarks/calibration.py              # run what is missing, then write the page
    python benchmarks/calibration.py --page       # write the page from the stored counts
    python benchmarks/calibration.py --fresh      # forget the stored counts first

Counts go to ``benchmarks/results/calibration_*.csv`` law by law, so that a run that was stopped
goes on where it was; random seeds are fixed. The page is ``docs/calibration.md``, its picture
``docs/_static/calibration.svg``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import calibration_beside
import calibration_between
import calibration_cautions
import calibration_dependent
import calibration_many
import calibration_rows
import calibration_scales
import default_kernel
from calibration_page import page
from calibration_picture import draw_picture
from counting import RESULTS

ROOT = Path(__file__).resolve().parent.parent


def replace_file(path: Path, text: str) -> None:
    """Write beside the file and rename, so that a broken run leaves the old one whole."""
    beside = path.with_suffix(path.suffix + ".part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--fresh", action="store_true", help="forget the stored counts first")
    parser.add_argument("--quick", action="store_true", help="few draws, for a trial")
    options = parser.parse_args()
    if options.fresh:
        for pattern in ("calibration_*", "default_kernel*"):
            for path in RESULTS.glob(pattern):
                path.unlink()
    if not options.page:
        for stage in (
            calibration_rows,
            calibration_many,
            calibration_scales,
            calibration_dependent,
            calibration_between,
            calibration_cautions,
            calibration_beside,
        ):
            stage.main(options.quick)
        default_kernel.main([50, 100, 200])
    draw_picture(ROOT / "docs" / "_static" / "calibration.svg")
    replace_file(ROOT / "docs" / "calibration.md", page())


if __name__ == "__main__":
    main()
