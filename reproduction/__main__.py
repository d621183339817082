"""Re-make the paper's figures and tables: ``python -m reproduction languages --out DIR``."""

from __future__ import annotations

import argparse
import sys

from reproduction import EXPERIMENTS, reproduce


def main(words: list[str] | None = None) -> int:
    """Run the experiment that the command line names and print what it wrote."""
    parser = argparse.ArgumentParser(prog="python -m reproduction", description=__doc__)
    listed = "; ".join(f"{name}: {what}" for name, what in EXPERIMENTS.items())
    parser.add_argument("name", choices=EXPERIMENTS, help=listed)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", dest="size", action="store_const", const="quick", default="quick")
    size.add_argument(
        "--full", dest="size", action="store_const", const="full", help="the paper's sizes"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", metavar="DIR", default="reproduced", help="default: %(default)s")
    parser.add_argument(
        "--data",
        metavar="PATH",
        help="a folder of parallel texts or of Europarl (languages), or ge_cgh_locIGR.rda (tumour)",
    )
    try:
        paths = reproduce(**vars(parser.parse_args(words)))
    except KeyboardInterrupt:
        return 130
    except (ValueError, OSError) as error:
        parser.error(str(error))
    print(*paths, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
