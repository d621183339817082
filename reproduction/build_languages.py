"""Make the language features that ship with the package from the parallel text.

    python -m reproduction.build_languages parallel_help_pages.jsonl.gz OUTPUT

INPUT has one JSON object per line: an ``id`` and the same page under each of the ten language
codes. OUTPUT is ``src/reldep/datasets/data/help_pages.npz``. The text goes through the
package's own pipeline (``reldep.kernels.documents``): Snowball stems, and as stop words
the stems found in more than half of the pages, so no word list from elsewhere is needed. What is
written are counts of stems by number; which stem a number stands for is not kept.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from reldep.datasets._shipped import LANGUAGES
from reldep.kernels.documents import count_stems
from reproduction.data_files import write_data_file


def main() -> None:
    """Read the command line, count the stems and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input", type=Path, help="parallel text, .jsonl.gz")
    parser.add_argument("output", type=Path, help="features to write, .npz")
    arguments = parser.parse_args()
    pages = read_pages(arguments.input)
    arrays: dict[str, Any] = {}
    for language in LANGUAGES:
        counts = count_stems([page[language] for page in pages], language)
        print(f"{language}: {counts.shape[0]} pages, {counts.shape[1]} stems, {counts.nnz} counts")
        arrays[f"{language}_counts"] = smallest(counts.data)
        arrays[f"{language}_stems"] = smallest(counts.indices)
        arrays[f"{language}_starts"] = counts.indptr.astype(np.int32)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    write_data_file(arguments.output, buffer.getvalue())


def read_pages(path: Path) -> list[dict[str, str]]:
    """All pages, after a check that each has text in every language."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        pages = [json.loads(line) for line in file]
    for page in pages:
        lacking = [language for language in LANGUAGES if not page.get(language, "").strip()]
        if lacking:
            raise SystemExit(f"page {page.get('id')!r} has no text in {', '.join(lacking)}")
    return pages


def smallest(values: np.ndarray) -> np.ndarray:
    """Turn to the smallest whole-number type that fits the values."""
    return values.astype(np.min_scalar_type(int(values.max())))


if __name__ == "__main__":
    main()
