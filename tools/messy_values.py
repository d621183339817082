"""Mess in the values of a file: numbers, missing values, labels and dates."""

from __future__ import annotations

from messy_table import (
    TRUE,
    Case,
    N,
    cells,
    comma,
    quoted,
    text,
    with_cells,
    with_value,
    without,
)

NUMBERS = [
    Case(
        "percent signs",
        "said",
        lambda: text(cells(fat=lambda v: f"{v}%")),
        "'fat' of study.csv: percent signs removed (50% is read as 50)",
    ),
    Case(
        "commas between thousands",
        "said",
        lambda: text(cells(income=quoted(lambda v: f"{v:,}"))),
        "',' read as the thousands separator",
    ),
    Case("decimal commas", "understood", lambda: text(cells(fat=comma), sep=";")),
    Case(
        "decimal commas in quotes",
        "said",
        lambda: text(cells(fat=quoted(comma))),
        "',' read as the decimal mark",
    ),
    Case(
        "1.234,5 for a thousand and a bit",
        "said",
        lambda: text(
            cells(
                income=lambda v: f"{v:,}.0".replace(",", "_").replace(".", ",").replace("_", ".")
            ),
            sep=";",
        ),
        "'.' read as the thousands separator",
    ),
    Case(
        "18.5 in some cells, 18,5 in others",
        "refused",
        lambda: text(with_cells("fat", (3, '"18,5"'), (5, '"20,25"'))),
        "column 'fat' has different decimal marks: '18.5' (line 2), '18,5' (line 5)",
    ),
    Case(
        "1,234 between semicolons, nothing else to tell by",
        "refused",
        lambda: text(
            cells(fat=lambda v: f"{v:.0f}", income=lambda v: f"{v % 9 + 1},{v % 900 + 100}"),
            sep=";",
        ),
        "has ',', which may be a decimal mark or a thousands separator",
    ),
    Case(
        "the same, with the mark named",
        "said",
        lambda: text(cells(income=lambda v: f"{v:,}"), sep=";"),
        "',' read as the thousands separator",
        options={"thousands": ","},
    ),
    Case(
        "spaces between thousands, as thin as they may be",
        "said",
        lambda: text(cells(income=lambda v: f"{v:,}".replace(",", "\u202f"))),
        "' ' read as the thousands separator",
    ),
    Case(
        "a currency",
        "said",
        lambda: text(cells(income=lambda v: f"€ {v}")),
        "the currency '€' removed",
    ),
    Case(
        "a unit in every cell",
        "said",
        lambda: text(cells(fat=lambda v: f"{v} kg")),
        "the unit 'kg' removed",
    ),
    Case(
        "different units",
        "refused",
        lambda: text(with_cells("fat", (3, "18500 g"), (4, "19 kg"))),
        "column 'fat' has different units",
    ),
    Case(
        "limits such as <0.5",
        "refused",
        lambda: text(with_cells("fat", (3, "<18.5"))),
        "column 'fat' has limits, which are not values: '<18.5' (line 5)",
    ),
    Case(
        "minus signs of typesetters",
        "said",
        lambda: text(cells(fat=lambda v: f"−{v}")),
        "special minus signs or spaces read as plain ones",
        values={**TRUE, "fat": [-v for v in TRUE["fat"]]},
    ),
    Case(
        "1,5e3",
        "said",
        lambda: text(cells(fat=quoted(lambda v: comma(v / 10) + "e1"))),
        "',' read as the decimal mark",
    ),
    Case(
        "negative numbers in brackets",
        "said",
        lambda: text(cells(fat=lambda v: f"({v})")),
        "numbers in brackets read as negative",
        values={**TRUE, "fat": [-v for v in TRUE["fat"]]},
    ),
    Case(
        "a word among numbers",
        "refused",
        lambda: text(with_cells("fat", (3, "unknown"))),
        "column 'fat' holds numbers and words: 'unknown' (line 5)",
    ),
    Case(
        "the same, named as missing",
        "understood",
        lambda: text(with_cells("fat", (3, "unknown"))),
        options={"na": ("unknown",)},
        values=without(3),
    ),
    Case(
        "codes with leading zeros",
        "cautioned",
        lambda: text(cells(income=lambda v: f"{v:06}")),
        "numbers that start with a zero, as codes do, read as numbers",
    ),
    Case(
        "ranges such as 40-49, fractions, 1.2 ± 0.1",
        "cautioned",
        lambda: text(cells(age=lambda v: f"{v // 2}-{v // 2 + 9}")),
        "if they are numbers, their size is not used",
        values=None,
    ),
]
MISSING_AND_LABELS = [
    Case(
        "empty cells, NA, NaN, NULL",
        "understood",
        lambda: text(with_cells("fat", (0, ""), (1, "NA"), (2, "NaN"), (3, "NULL"))),
        values=without(0, 1, 2, 3),
    ),
    Case(
        "n/a, #N/A, a point, ? or - among numbers",
        "said",
        lambda: text(with_cells("fat", (0, "n/a"), (1, "#N/A"), (2, "."), (3, "?"), (4, "-"))),
        "read as missing (5 of 24 cells)",
        values=without(0, 1, 2, 3, 4),
    ),
    Case(
        "−999 for missing",
        "cautioned",
        lambda: text(with_cells("fat", (0, "-999"), (7, "-999"))),
        "-999 in 'fat' may mean missing",
        values=with_value("fat", 0, 7, value=-999),
    ),
    Case(
        "9999 for missing",
        "cautioned",
        lambda: text(with_cells("age", (3, "9999"))),
        "9999 in 'age' may mean missing",
        values=with_value("age", 3, value=9999),
    ),
    Case(
        "−1 in a column of positive numbers",
        "cautioned",
        lambda: text(with_cells("age", (3, "-1"))),
        "-1 in 'age' may mean missing",
        values=with_value("age", 3, value=-1),
    ),
    Case(
        "−999, named as missing",
        "understood",
        lambda: text(with_cells("fat", (0, "-999"), (7, "-999"))),
        options={"na": (-999,)},
        values=without(0, 7),
    ),
    Case(
        "a label in two spellings",
        "cautioned",
        lambda: text(with_cells("sex", (0, "F"))),
        "labels that may be the same ('F', 'f')",
        columns=("age", "sex"),
        values=None,
    ),
    Case(
        "? among labels",
        "cautioned",
        lambda: text(with_cells("sex", (0, "?"))),
        "'?' in 'sex' may mean missing",
        columns=("age", "sex"),
        values=None,
    ),
    Case(
        "labels nearly all of which differ",
        "refused",
        lambda: text(with_cells("id", (1, "p0"))),
        "has 23 different strings in 24 observations",
        columns=("age", "id"),
    ),
    Case(
        "yes and no, TRUE and FALSE",
        "understood",
        lambda: text(with_cells("sex", *((i, ("yes", "no")[i % 2]) for i in range(N)))),
        columns=("age", "sex"),
        values=None,
    ),
    Case(
        "a column without any value",
        "refused",
        lambda: text(with_cells("fat", *((i, "") for i in range(N)))),
        "fat has only missing values",
    ),
    Case(
        "dates",
        "said",
        lambda: text(cells(age=lambda v: f"2024-01-{v % 28 + 1:02}")),
        "dates read as days since the first",
        values={**TRUE, "age": [v % 28 - min(v % 28 for v in TRUE["age"]) for v in TRUE["age"]]},
    ),
    Case(
        "01/02/2024, and no day above 12",
        "refused",
        lambda: text(cells(age=lambda v: f"{v % 12 + 1:02}/02/2024")),
        "has dates whose day and month cannot be told apart",
    ),
    Case(
        "2024-01-31 in some cells, 31/01/2024 in others",
        "refused",
        lambda: text(
            cells()
            | {"age": [f"2024-01-{i + 1:02}" if i % 2 else f"{i + 1:02}/01/2024" for i in range(N)]}
        ),
        "has dates in different forms: '01/01/2024' (line 2), '2024-01-02' (line 3)",
    ),
    Case(
        "1/31/24, a year of two digits",
        "refused",
        lambda: text(cells(age=lambda v: f"1/{v % 28 + 1}/24")),
        "has dates with two digits for the year",
    ),
]
