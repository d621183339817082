"""Files as messy as real ones, and the page that says what happens to each.

``python tools/messy_files.py`` writes ``docs/guide/messy-files.md``. The tests run the same cases.
"""

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))

from messy_cases import CHAPTERS, Case  # noqa: E402

from reldep.checks import Data, cautions_about_values  # noqa: E402
from reldep.data.dataset import read_dataset  # noqa: E402
from reldep.data.variables import Labels  # noqa: E402
from reldep.files.read import read  # noqa: E402
from reldep.kernels.choosing import as_kernel  # noqa: E402

PAGE = ROOT / "docs" / "guide" / "messy-files.md"


@dataclass(frozen=True)
class Happened:
    """What happened to a case: the error, or the values and what was said about them."""

    error: str | None
    said: tuple[str, ...]
    values: dict[str, list[float]]


def run(case: Case) -> Happened:
    """Read the data of a case from a file in the current directory, or as they are."""
    made = case.data
    try:
        if isinstance(made, (str, bytes)):
            Path(case.file).write_bytes(made if isinstance(made, bytes) else made.encode())
            made = case.file
        if isinstance(made, dict):
            blocks, rows, notes = made, None, ()
        else:
            table = read(made, **case.options)
            blocks = table.take(list(case.columns), several=True)
            rows, notes = table.rows, table.notes_about(table.select(list(case.columns)))
        dataset = read_dataset(blocks, missing="drop", ids=rows)
        kernels = {name: as_kernel("auto", one) for name, one in dataset.variables.items()}
        data = Data(dataset=dataset, kernels=kernels, automatic=frozenset(kernels))
        found = cautions_about_values(data)
    except (ValueError, TypeError, OSError) as error:
        return Happened(str(error), (), {})
    values = {
        name: [] if isinstance(variable, Labels) else variable.values.ravel().tolist()
        for name, variable in dataset.variables.items()
    }
    return Happened(None, (*notes, *dataset.notes, *map(str, found)), values)


WORDS = {
    "understood": "understood",
    "said": "understood, with a note",
    "cautioned": "cautioned",
    "refused": "refused",
}
START = """# Messy files

What happens to a file that is not as it should be. There are four answers. *Understood*: there is
one way to read it, and nothing to say. *Understood, with a note*: it is read in the way that a
whole column or file agrees on, and a note says how. *Cautioned*: it is read as it is, and a
caution names what looks wrong. *Refused*: an error names the line, the cell and the way out.
Nothing is guessed in silence.

In Python a caution is among `result.warnings` and a note among `result.provenance.notes`; the
command line prints both under the answer. Options are written here as in Python (`skip_rows=2`);
the command line spells them `--skip-rows 2`.

This page is made by `python tools/messy_files.py`, which runs every case. The tests run them too.
"""


def page() -> str:
    """Write the page: a table a chapter."""
    parts = [START]
    for title, cases in CHAPTERS.items():
        parts.append(f"\n## {title}\n\n| the data | what happens | what is said |\n|---|---|---|\n")
        for case in cases:
            happened = run(case)
            told = happened.error or " ".join(happened.said)
            cell = told.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
            name = case.name.replace("<", "&lt;")
            options = ", ".join(f"`{key}={value!r}`" for key, value in case.options.items())
            shown = f"{name} ({options})" if options else name
            parts.append(f"| {shown} | {WORDS[case.outcome]} | {cell} |\n")
    return "".join(parts)


def main() -> None:
    """Write the page of the documentation."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    target = target.absolute()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        written = page()
        os.chdir(target.parent)
    target.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
