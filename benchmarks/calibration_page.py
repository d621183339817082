"""The pages that publish the calibration, written from the stored counts."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import matplotlib as mpl
from cautions import KINDS, caution_cells
from default_kernel import regret_table
from given import COLUMNS as GIVEN_TABLES
from given import given_table
from matplotlib.figure import Figure
from simulation import (
    ALIKE,
    CLUSTERS,
    DOCS,
    SERIES,
    UNLIKE,
    WORLDS,
    markdown,
    shown,
    stored,
    with_parts,
)

from kernels import survival_table

SIZES = ("20", "50", "100", "300", "1000")
WORST = 16
# Cells with fewer samples than this are pooled, not quoted one by one.
ENOUGH = 200
GROSS = ("10% gross errors", "5% gross errors")
RARE = ("6% rare rows", "8% diseased")
# Panels of the picture: their titles, and the methods of `Rates`.
PANELS = (("published test", "published"), ("paired bootstrap", "bootstrap"), ("default", "level"))
# Cautions seen in fewer samples are left out of their table.
FEW_SAMPLES = 10
# Tables of one row per cell: their columns, and the events that these show.
COLUMNS = {
    "series": {
        "blocks alone (before)": "blocks alone",
        "**default**": "rejected",
        "caution: slow": "slow",
        "caution: season": "season",
    },
    "clusters": {"rows taken as independent": "rows", "**clusters**": "rejected"},
    "rank": {
        "false claim": "false claim",
        "best lost": "best lost",
        "some rank outside": "rank missed",
        "some difference outside": "difference missed",
        "some dependence outside": "dependence missed",
        "differences found": "found",
    },
    "matrix": {
        "some interval misses": "some missed",
        "interval by itself misses": "each missed",
        "false claim": "false claim",
    },
    "groups": {"rejected": "rejected"},
    "scan": {"adjusted p < .05": "false claim", "discovery rate < .05": "discovery"},
    "scales": {
        "some band misses": "band missed",
        "**at some**": "some",
        "**at every**": "every",
        "smallest of 13": "smallest",
    },
}


class Rates:
    """Rates of events in cells."""

    def __init__(self) -> None:
        self.cells = stored()

    def samples(self, cell: str) -> float:
        found = self.cells[cell]
        return found["samples"] - found["refused"]

    def rate(self, cell: str, *events: str) -> float | None:
        """Return the share of samples with one of these exclusive events."""
        if cell not in self.cells or not self.samples(cell):
            return None
        return sum(self.cells[cell][event] for event in events) / self.samples(cell)

    def level(self, cell: str) -> float | None:
        """Return the two-sided level where both tails were counted."""
        is_counted = cell.split("/")[0] in ("rows", "worlds", "large")
        return self.rate(cell, "upper", "lower") if is_counted else None

    def one_sided(self, cell: str) -> float | None:
        """Return the one-sided level in the worse order of the targets."""
        sides = [self.rate(cell, f"one-sided {side}") for side in ("upper", "lower")]
        return None if None in sides else max(sides)

    def bootstrap(self, cell: str) -> float | None:
        found = self.cells.get(cell, Counter())
        return (
            found["bootstrap"] / found["bootstrap samples"] if found["bootstrap samples"] else None
        )

    def published(self, cell: str) -> float | None:
        """Return the level of the published test; ties of CKA are not its hypothesis."""
        table, law, _ = cell.split("/")
        return self.rate(cell, "published") if table == "rows" and law in ALIKE else None

    def error(self, cell: str) -> float:
        """Return one binomial standard error of a rate of .05."""
        return math.sqrt(0.05 * 0.95 / self.samples(cell))

    def of(self, table: str) -> list[str]:
        return [cell for cell in self.cells if cell.startswith(f"{table}/")]


def both(rates: Rates, cell: str) -> str:
    level = rates.level(cell)
    return "–" if level is None else f"{shown(level)} ({shown(rates.one_sided(cell))})"


def place(cell: str) -> list[str]:
    table, law, size = cell.split("/")
    names = {
        "worlds": "real: ",
        "series": "series: ",
        "clusters": "clusters: ",
        "groups": "groups: ",
    }
    return [names.get(table, "") + law, size.replace("1000", "1,000")]


def samples_in_words(rates: Rates) -> str:
    """Return how many samples there are at each size, and what error that leaves."""
    parts = []
    for m in SIZES:
        cells = [cell for cell in rates.of("rows") if cell.endswith(f"/{m}")]
        fewest = min(cells, key=rates.samples)
        n, error = rates.samples(fewest), rates.error(fewest)
        parts.append(
            f"{n:,.0f} samples of {int(m):,} rows (a rate of .05 is known to ±{shown(error)})"
        )
    return f"At least {', '.join(parts)}."


def worst_table(rates: Rates, count: int = WORST) -> str:
    """Return the cells whose default test rejects most, of all tables about one test."""
    levels = {
        cell: rates.level(cell) for table in ("rows", "worlds", "large") for cell in rates.of(table)
    }
    for table in ("series", "clusters", "groups"):
        levels |= {cell: rates.rate(cell, "rejected") for cell in rates.of(table)}
    found = {cell: level for cell, level in levels.items() if level is not None}
    # By what is surely above: of cells with few samples chance would put some first.
    sure = {c: p - 2 * math.sqrt(p * (1 - p) / rates.samples(c)) for c, p in found.items()}
    ordered = sorted(found, key=lambda cell: -sure[cell])
    body = [
        [
            *place(cell),
            f"{rates.samples(cell):,.0f}",
            f"**{shown(levels[cell])}** ± {shown(rates.error(cell))}",
            shown(rates.one_sided(cell)) if rates.level(cell) is not None else "–",
            shown(rates.published(cell)),
            shown(rates.bootstrap(cell)),
        ]
        for cell in ordered[:count]
    ]
    header = ["law", "rows", "samples", "default", "one-sided", "published test", "bootstrap"]
    return markdown(header, body)


def limits(rates: Rates) -> str:
    """Return the largest levels of each kind of law, as a list."""
    groups: list[tuple[str, list[str]]] = [
        ("alike targets, 50 rows or more", [f"rows/{law}/{m}" for law in ALIKE for m in SIZES[1:]]),
        ("alike targets, 20 rows", [f"rows/{law}/20" for law in ALIKE]),
        (
            "unlike targets, 50 rows or more, gross errors left out",
            [f"rows/{law}/{m}" for law in UNLIKE if law not in GROSS for m in SIZES[1:]],
        ),
        ("unlike targets, 20 rows", [f"rows/{law}/20" for law in UNLIKE if law not in GROSS]),
        ("gross errors in 5% or 10% of rows", [f"rows/{law}/{m}" for law in GROSS for m in SIZES]),
        ("real frames, 50 rows or more", [f"worlds/{n}/{m}" for n in WORLDS for m in SIZES[1:4]]),
        ("real frames, 20 rows", [f"worlds/{n}/20" for n in WORLDS]),
        ("3,000 to 20,000 rows, every engine", rates.of("large")),
    ]
    lines = []
    for name, cells in groups:
        known = [cell for cell in cells if rates.level(cell) is not None]
        if not known:
            continue
        n = sum(rates.samples(cell) for cell in known)
        pooled = sum((rates.level(cell) or 0) * rates.samples(cell) for cell in known) / n
        text = f"- **{name}**: {shown(pooled)} of {n:,.0f} samples in {len(known)} cells"
        large = [cell for cell in known if rates.samples(cell) >= ENOUGH]
        if large:
            top = max(large, key=lambda cell: rates.level(cell) or 0)
            side = max(large, key=lambda cell: rates.one_sided(cell) or 0)
            low = min(large, key=lambda cell: rates.level(cell) or 0)
            text += (
                f"; {shown(rates.level(low))} to {shown(rates.level(top))} "
                f"({', '.join(place(top))}), one-sided in the worse order up to "
                f"{shown(rates.one_sided(side))} ({', '.join(place(side))})"
            )
        lines.append(f"{text}.")
    return "\n".join(textwrap.fill(line, 110, subsequent_indent="  ") for line in lines)


def limits_of_unlike(rates: Rates) -> str:
    """Return the largest levels of unlike targets in words, for the page of cautions."""

    def largest(laws: Iterable[str], sizes: Sequence[str] = SIZES[1:]) -> str:
        cells = [f"rows/{law}/{m}" for law in laws for m in sizes]
        two, one = (max(f(cell) or 0 for cell in cells) for f in (rates.level, rates.one_sided))
        return f"{two:.0%} of samples (one-sided {one:.0%}; 95% intervals cover {1 - two:.0%})"

    ordinary = [law for law in UNLIKE if law not in (*RARE, *GROSS)]
    return (
        "In simulations with 50 rows or more, a test at 5% rejected ties of unlike targets\n\n"
        f"- in up to {largest(ordinary)} where no dependence rests on few rows;\n"
        f"- in up to {largest(RARE)} where one rests on 6% or 8% of the rows;\n"
        f"- in up to {largest(GROSS)} where 5% or 10% of one target are gross errors,\n"
        f"  and with 20 rows in up to {largest(GROSS, SIZES[:1])}.\n\n"
        "Targets that are alike keep to the level ([all numbers](../calibration.md))."
    )


def level_table(rates: Rates, table: str, laws: Iterable[str], sizes: Sequence[str]) -> str:
    body = [[law, *(both(rates, f"{table}/{law}/{m}") for m in sizes)] for law in laws]
    return markdown(["law", *(f"{int(m):,} rows" for m in sizes)], body)


def beside_table(rates: Rates) -> str:
    """Return the default next to the published test, the bootstrap and Williams's t."""
    body = []
    for law in {**ALIKE, **UNLIKE}:
        for m in ("50", "100"):
            cell = f"rows/{law}/{m}"
            has_williams = "Williams" in rates.cells.get(cell, {})
            williams = rates.rate(cell, "Williams") if has_williams else None
            numbers = [
                *(rate(cell) for rate in (rates.level, rates.published, rates.bootstrap)),
                williams,
            ]
            body.append([law, m, *map(shown, numbers)])
    return markdown(
        ["law", "rows", "**default**", "published test", "bootstrap", "Williams's t"], body
    )


def caution_of_unlike(rates: Rates) -> str:
    laws = {**UNLIKE, **ALIKE}
    body = [
        [law, *(shown(rates.rate(f"rows/{law}/{m}", "unlike")) for m in SIZES[1:4])] for law in laws
    ]
    return markdown(["law", *(f"{m} rows" for m in SIZES[1:4])], body)


def simple(rates: Rates, table: str) -> str:
    """Return one row per cell of a table, with the rates of some events."""
    laws = [*SERIES, *CLUSTERS]
    columns = COLUMNS[table]

    def place_of(cell: str) -> tuple[int, str, int, str]:
        law, size = cell.split("/")[1:]
        return laws.index(law) if law in laws else len(laws), law, len(size), size

    body = [
        [*cell.split("/")[1:], f"{rates.samples(cell):,.0f}"]
        + [shown(rates.rate(cell, event)) for event in columns.values()]
        for cell in sorted(rates.of(table), key=place_of)
    ]
    return markdown([table, "rows", "samples", *columns], body)


def plan_table(rates: Rates) -> str:
    body = []
    for cell in rates.of("plans"):
        found, n = rates.cells[cell], rates.samples(cell)
        row = [cell.split("/")[1], shown(found["pilot hit"] / n)]
        for kind in ("plain", "careful"):
            plans = found[f"{kind} plans"]
            row += [
                shown(1 - plans / n),
                shown(found[f"{kind} power"] / plans),
                shown(found[f"{kind} kept"] / n),
            ]
        after = found["plain power after"] / max(found["pilot hit"], 1)
        body.append([*row, shown(after)])
    header = ["law", "power of the pilot"]
    for kind in ("plan", "careful plan"):
        header += [f"{kind}: none", f"{kind}: mean power", f"{kind}: assurance"]
    return markdown([*header, "plan after a significant pilot: mean power"], body)


def caution_table(rates: Rates) -> str:
    """Return the share of samples with each caution, where it is due and where it is not."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for cell in caution_cells():
        own = rates.cells.get(cell.name, Counter())
        for due in ("due", "not due"):
            if own[due] >= FEW_SAMPLES:
                texts = found.setdefault((cell.law, due), {"given": [], "rejected": []})
                for what in ("given", "rejected") if KINDS[_kind(cell.law)].is_tied else ("given",):
                    share = own[f"{due}, {what}"] / own[due]
                    texts[what].append(f"{cell.size}: {100 * share:.0f}%")
    body = [
        [*law.split(": ", 1), "yes" if due == "due" else "no"]
        + [", ".join(texts[what]) or "–" for what in ("given", "rejected")]
        for (law, due), texts in found.items()
    ]
    header = ["caution", "data", "due", "rows: samples with the caution", "rows: level at 5%"]
    return markdown(header, body)


def _kind(law: str) -> str:
    return law.split(": ", 1)[0]


def draw_picture(rates: Rates, path: Path) -> None:
    """Draw the level of every law and size: the published test, the bootstrap and the default."""
    with mpl.rc_context({"svg.hashsalt": "reldep", "svg.fonttype": "none"}):
        figure = Figure(figsize=(8, 3.4), layout="constrained")
        axes = figure.subplots(1, 3, sharey=True)
        for ax, (name, rate) in zip(axes, PANELS, strict=True):
            for laws, colour, shift in ((ALIKE, "#2a78b8", -0.12), (UNLIKE, "#c8553d", 0.12)):
                for x, m in enumerate(SIZES):
                    values = [getattr(rates, rate)(f"rows/{law}/{m}") for law in laws]
                    known = [value for value in values if value is not None]
                    ax.plot([x + shift] * len(known), known, "o", ms=4, alpha=0.7, color=colour)
            ax.axhspan(0.035, 0.065, color="#2a78b8", alpha=0.12, lw=0)
            ax.set(title=name, xticks=range(len(SIZES)), xlabel="rows")
            ax.set_xticklabels([f"{int(m):,}" for m in SIZES])
        axes[0].set(ylabel="level at 5%", ylim=(0, None))
        figure.savefig(path, format="svg", metadata={"Date": None})


def write() -> None:
    """Write the pages and the picture."""
    rates = Rates()
    draw_picture(rates, DOCS / "_static" / "calibration.svg")
    for name, text in pages(rates).items():
        (DOCS / name).write_text(text, encoding="utf-8")


def pages(rates: Rates) -> dict[str, str]:
    """Return the texts of the pages that contain counts, by their names in ``docs``."""
    parts = {
        "guide/cautions.md": {"limits": limits_of_unlike(rates)},
        "guide/given.md": {name: given_table(rates.cells, name) for name in GIVEN_TABLES},
        "guide/kernels.md": {"survival": survival_table(rates.cells)},
    }
    filled = {name: with_parts(DOCS / name, own) for name, own in parts.items()}
    return {"calibration.md": page(rates), **filled}


def page(rates: Rates) -> str:
    """Return the text of the page."""
    template = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")
    missed = [
        [name, *(shown(rates.rate(f"worlds/{name}/{m}", "one missed")) for m in SIZES[:4])]
        for name in WORLDS
    ]
    return template.format(
        count=WORST,
        worst=worst_table(rates),
        samples=samples_in_words(rates),
        limits=limits(rates),
        laws="\n".join(f"- **{name}**: {law.text}." for name, law in {**ALIKE, **UNLIKE}.items()),
        alike=level_table(rates, "rows", ALIKE, SIZES),
        unlike=level_table(rates, "rows", UNLIKE, SIZES),
        worlds=level_table(rates, "worlds", WORLDS, SIZES[:4]),
        one=markdown(["frame", *(f"{m} rows" for m in SIZES[:4])], missed),
        large=large_table(rates),
        beside=beside_table(rates),
        cautions_unlike=caution_of_unlike(rates),
        plans=plan_table(rates),
        cautions=caution_table(rates),
        regrets=regret_table(rates.cells),
        **{table: simple(rates, table) for table in COLUMNS},
    )


def large_table(rates: Rates) -> str:
    cells = rates.of("large")
    sizes = list(dict.fromkeys(cell.split("/")[2] for cell in cells))
    laws = list(dict.fromkeys(cell.split("/")[1] for cell in cells))

    def one(law: str, size: str) -> str:
        cell = f"large/{law}/{size}"
        if rates.level(cell) is None:
            return "–"
        engine = next((e[3:] for e in rates.cells[cell] if e.startswith("by ")), "")
        return f"{both(rates, cell)} {engine}, {rates.samples(cell):,.0f}"

    order = sorted(sizes, key=lambda size: (int(size.split(",")[0] + size.split(",")[1][:3]), size))
    return markdown(["rows", *laws], [[size, *(one(law, size) for law in laws)] for size in order])
