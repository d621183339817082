"""The page that publishes the calibration: tables in Markdown, written from the stored counts."""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from typing import TYPE_CHECKING, Any

from calibration_rows import DRAWS, LARGE_DRAWS, SETTINGS
from calibration_words import (
    BOOTSTRAP,
    CLASSICS,
    CLUSTERS,
    COVERAGE,
    GROUPS,
    INDEPENDENCE,
    INTRODUCTION,
    KERNEL,
    LEVEL,
    PLANNING,
    POWER,
    RANKINGS,
    SERIES,
    TAILS,
)
from counting import Rates, Tally, remembered
from kernel_laws import LAWS
from kernel_page import rates as kernel_rates
from kernel_page import regrets
from sampling_models import ALTERNATIVES, MODELS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SIZES = sorted((*DRAWS, *LARGE_DRAWS))
# Exact independence is a corner of the hypothesis where no such test reaches its level.
CORNER = ("independent",)
WIDTH = 99


def page() -> str:
    """Write the whole page."""
    rows = Rates(Tally("calibration_rows").rows())
    laws = "\n".join(f"- **{name}**: {model.description}." for name, model in MODELS.items())
    return "\n".join(
        [
            INTRODUCTION.format(
                laws=laws, goals=goals(rows), extremes=extremes(rows), draws=draws_in_words()
            ),
            LEVEL.format(table=level_table(rows)),
            TAILS.format(table=tail_table(rows)),
            COVERAGE.format(table=coverage_table(rows)),
            POWER.format(table=power_table()),
            RANKINGS.format(table=ranking_table()),
            CLUSTERS.format(table=dependent_table("clusters")),
            SERIES.format(table=dependent_table("series")),
            INDEPENDENCE.format(table=independence_table()),
            GROUPS.format(table=groups_table()),
            CLASSICS.format(table=classics_table()),
            BOOTSTRAP.format(table=bootstrap_table()),
            PLANNING.format(table=planning_table()),
            KERNEL.format(table=regret_table(), powers=kernel_power_table()),
        ]
    )


def level(rates: Rates, law: str, m: int, setting: str, method: str) -> float | None:
    """Give the two-sided level."""
    sides = [rates(law, m, setting, method, side) for side in ("upper", "lower")]
    return None if all(side is None for side in sides) else sum(side or 0.0 for side in sides)


def shown(value: float | None) -> str:
    """Write a rate as is usual for levels: .050."""
    if value is None:
        return "–"
    text = f"{value:.3f}"
    return text[1:] if text.startswith("0") else text


def level_table(rates: Rates) -> str:
    header = ["law", "rows", *SETTINGS]
    body = [
        [law, str(m)]
        + [
            " → ".join(
                shown(level(rates, law, m, setting, method))
                for method in ("fixed-kernel", "jackknife")
            )
            for setting in SETTINGS
        ]
        for law in MODELS
        for m in SIZES
        if level(rates, law, m, "cka", "jackknife") is not None
    ]
    return markdown(header, body)


def tail_table(rates: Rates) -> str:
    """Give both tails of the default, one column a size."""
    sizes = [m for m in SIZES if m <= 200]

    def tails(law: str, m: int) -> str:
        sides = [rates(law, m, "cka", "jackknife", side) for side in ("lower", "upper")]
        if all(side is None for side in sides):
            return "–"
        return " / ".join(shown(side or 0.0) for side in sides)

    body = [[law, *(tails(law, m) for m in sizes)] for law in MODELS]
    return markdown(["law", *(f"{m} rows" for m in sizes)], body)


def coverage_table(rates: Rates) -> str:
    body = [
        [law, str(m)]
        + [
            " → ".join(
                shown(rates(law, m, setting, method, "covered"))
                for method in ("fixed-kernel", "jackknife")
            )
            for setting in SETTINGS
        ]
        for law in MODELS
        for m in (20, 50, 100, 200)
        if rates(law, m, "cka", "jackknife", "covered") is not None
    ]
    return markdown(["law", "rows", *SETTINGS], body)


def power_table() -> str:
    rates = Rates(Tally("calibration_power").rows())

    def both(name: str, m: int, setting: str, method: str) -> str:
        plain, adjusted = (rates(name, m, setting, method, q) for q in ("power", "power, adjusted"))
        return f"{shown(plain)} ({shown(adjusted)})"

    columns = (
        ("hsic", "fixed-kernel"),
        ("hsic", "jackknife"),
        ("cka, Gaussian", "jackknife"),
        ("cka", "jackknife"),
        ("dcor", "jackknife"),
    )
    header = [
        "alternative",
        "rows",
        "published test",
        "hsic",
        "cka, Gaussian",
        "**cka (default)**",
        "dcor",
    ]
    body = [
        [name, str(m), *(both(name, m, *column) for column in columns)]
        for name in ALTERNATIVES
        for m in (30, 50, 100, 200)
        if rates(name, m, "cka", "jackknife", "power") is not None
    ]
    return markdown(header, body)


def ranking_table() -> str:
    rates = Rates(Tally("calibration_many").rows())
    cells = list(dict.fromkeys((law, m) for law, m, *_ in rates.keys()))  # noqa: SIM118
    quantities = (
        "false claim, old",
        "false claim",
        "best lost",
        "rank sets wrong",
        "differences not covered",
        "dependences not covered",
        "share of differences found",
    )
    header = [
        "targets",
        "rows",
        "false claim: old",
        "false claim",
        "best lost",
        "rank sets wrong",
        "some difference missed",
        "some dependence missed",
        "differences found",
    ]
    body = [
        [law, str(m), *(shown(rates(law, m, "cka", "", q)) for q in quantities)] for law, m in cells
    ]
    return markdown(header, body)


def dependent_table(kind: str) -> str:
    rates = Rates(Tally("calibration_dependent").rows())
    names = list(dict.fromkeys(law for law, _, _, which, _ in rates.keys() if which == kind))  # noqa: SIM118
    methods = (
        "rows taken as independent",
        "sums of influence values, z",
        "first order",
        "different clusters",
    )
    header = [
        "law",
        "rows taken as independent",
        "influence summed, z (0.1)",
        "from A, t",
        "**four different clusters, t**",
    ]
    body = [
        [
            _sizes_spaced(name.split(": ", 1)[1]),
            *(shown(rates(name, 0, "cka", kind, q)) for q in methods),
        ]
        for name in names
    ]
    return markdown(header, body)


def _sizes_spaced(name: str) -> str:
    return re.sub(r"(\d)x(\d)", r"\1 × \2", name)


def independence_table() -> str:
    rates = Rates(Tally("calibration_dependent").rows())
    kind = "independence"
    names = list(dict.fromkeys(law for law, _, _, which, _ in rates.keys() if which == kind))  # noqa: SIM118
    body = [
        [_sizes_spaced(name.split(": ", 1)[1])]
        + [shown(rates(name, 0, "cka", kind, q)) for q in ("rows taken as independent", "new")]
        for name in names
    ]
    return markdown(
        ["rows", "rows taken as independent (0.1)", "**clusters or series kept whole**"], body
    )


def groups_table() -> str:
    rates = Rates(Tally("calibration_dependent").rows())
    names = list(dict.fromkeys(law for law, _, _, which, _ in rates.keys() if which == "groups"))  # noqa: SIM118
    body = [
        [_sizes_spaced(name.split(": ", 1)[1])]
        + [shown(rates(name, 0, "cka", "groups", q)) for q in ("equal", "some pair")]
        for name in names
    ]
    return markdown(["noise, rows of the groups", "all equal rejected", "some pair rejected"], body)


def classics_table() -> str:
    rates = Rates(Tally("calibration_classics").rows())
    cells = list(dict.fromkeys((law, m) for law, m, *_ in rates.keys()))  # noqa: SIM118
    methods = ("Williams's t", "Steiger's Z", "linear kernel", "default")
    body = [
        [law, str(m), *(shown(rates(law, m, "", method, "rejected") or 0.0) for method in methods)]
        for law, m in sorted(cells)
    ]
    return markdown(["law", "rows", *methods], body)


def bootstrap_table() -> str:
    body = [
        [
            cell["law"],
            label,
            shown(cell["coverage"][i]),
            shown(cell["length"][i]),
            f"{cell['milliseconds'][i]:.1f}",
        ]
        for cell in remembered("calibration_beside").get("bootstrap", [])
        for i, label in enumerate(("jackknife-t", "bootstrap, 999 resamples"))
    ]
    return markdown(["law", "interval", "coverage", "mean length", "milliseconds"], body)


def planning_table() -> str:
    kinds = ("plain", "after significance", "careful", "careful, after significance")
    body = [
        [cell["law"], shown(cell["power of a pilot"])]
        + [shown(cell["power"].get(kind)) for kind in kinds]
        + [f"{cell['without a careful plan']} of {cell['pilots']}"]
        for cell in remembered("calibration_beside").get("planning", [])
    ]
    header = [
        "law",
        "power of the pilot",
        "from the estimate",
        "… if the pilot was significant",
        "from the lower 80% limit",
        "… if the pilot was significant",
        "limit is no effect",
    ]
    return markdown(header, body)


def regret_table() -> str:
    found = [m for _, m in kernel_rates("different")]
    sizes = [m for m in sorted(set(found)) if found.count(m) == len(LAWS)]
    by_size = {m: regrets(m) for m in sizes}
    header = ["kernel"]
    for m in sizes:
        header += [f"largest regret, {m} rows", f"mean, {m} rows"]
    body = []
    for kernel in by_size[sizes[0]]:
        row = [f"**{kernel}**" if kernel == "Laplace, mean" else kernel]
        for m in sizes:
            lost = by_size[m][kernel]
            worst = max(lost, key=lambda law: lost[law])
            row += [f"{shown(lost[worst])} ({worst})", shown(sum(lost.values()) / len(lost))]
        body.append(row)
    return markdown(header, body)


def kernel_power_table() -> str:
    kernels = (
        "Gaussian, median",
        "Gaussians ¼…4 × median",
        "Laplace, median",
        "Laplace, mean",
        "Laplace, 1.4 × mean",
        "distance",
        "linear",
    )
    equal, different = kernel_rates("equal"), kernel_rates("different")
    body = [
        [law, *(shown(powers[kernel]) for kernel in kernels), shown(equal[law, m]["Laplace, mean"])]
        for (law, m), powers in different.items()
        if m == 50
    ]
    return markdown(["law", *kernels, "level, Laplace, mean"], body)


def extremes(rates: Rates) -> str:
    """Say how far each of the three tests of the picture strays above its level."""
    parts = []
    for words, setting, method in (
        ("the published test", "hsic", "fixed-kernel"),
        ("its variance with CKA", "cka, Gaussian", "fixed-kernel"),
        ("the default", "cka", "jackknife"),
    ):
        found = {
            (law, m): level(rates, law, m, setting, method) or 0.0
            for law in MODELS
            for m in SIZES
            if m <= 200
        }
        law, m = max(found, key=lambda key: found[key])
        parts.append(f"{words} {100 * found[law, m]:.1f}% ({law}, {m} rows)")
    text = f"The most that each rejects at 5%: {parts[0]}, {parts[1]}, {parts[2]}."
    return textwrap.fill(text, WIDTH)


def draws_in_words() -> str:
    """Say how many samples there are at each size."""
    known = {row["m"]: row["draws"] for row in Tally("calibration_rows").rows()}
    words = ", ".join(f"{n:,} samples at {m:,} rows" for m, n in sorted(known.items()))
    return textwrap.fill(f"There are {words}.", WIDTH)


def goals(rates: Rates) -> str:
    """Say which goals are met by the default, and list every miss."""
    checks: list[tuple[str, Callable[[float, int], bool], str]] = [
        (
            "level from 3.5% to 6.5% from 50 rows",
            lambda v, m: m < 50 or 0.035 <= v <= 0.065,
            "level",
        ),
        ("level at most 7.5% at 20 and 30 rows", lambda v, m: m >= 50 or v <= 0.075, "level"),
        ("coverage from 93% to 98%", lambda v, _: 0.93 <= v <= 0.98, "covered"),
    ]
    lines = []
    for words, holds, quantity in checks:
        total, strict, missed = 0, 0, []
        for law, m in itertools.product(MODELS, SIZES):
            value = _quantity(rates, law, m, quantity)
            beside = quantity == "level" and (m < 50) != ("20" in words)
            if law in CORNER or value is None or beside:
                continue
            total += 1
            strict += holds(value, m)
            if not _within_error(value, holds, m, {**DRAWS, **LARGE_DRAWS}[m]):
                missed.append(f"{law} at {m} rows ({shown(value)})")
        found = f"{total - len(missed)} ({strict}) of {total} laws and sizes"
        lines.append(f"- {words}: {found}" + (f"; missed: {', '.join(missed)}." if missed else "."))
    lines += power_goals().splitlines()
    return "\n".join(
        textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False) for line in lines
    )


def _quantity(rates: Rates, law: str, m: int, quantity: str) -> float | None:
    if quantity == "level":
        return level(rates, law, m, "cka", "jackknife")
    return rates(law, m, "cka", "jackknife", quantity)


def power_goals() -> str:
    """Compare the power of the default with that of the published test."""
    rates = Rates(Tally("calibration_power").rows())
    own, missed, total = [], [], 0
    for name, m in itertools.product(ALTERNATIVES, (30, 50, 100, 200)):
        plain, adjusted = (
            [
                rates(name, m, *test, what)
                for test in (("hsic", "fixed-kernel"), ("cka", "jackknife"))
            ]
            for what in ("power", "power, adjusted")
        )
        if None in (*plain, *adjusted):
            continue
        if name.startswith("spiral"):
            own.append(f"{shown(plain[0])} → {shown(plain[1])} at {m} rows")
            continue
        total += 1
        if adjusted[1] < adjusted[0] - 0.05:
            missed.append(f"{name} at {m} rows ({shown(adjusted[0])} → {shown(adjusted[1])})")
    return (
        "- power on the paper's own alternative at least that of the published test: "
        f"{', '.join(own)}.\n"
        f"- power within 5 points of the published test elsewhere, both adjusted in size: "
        f"{total - len(missed)} of {total}" + (f"; missed: {', '.join(missed)}." if missed else ".")
    )


def _within_error(value: float, holds: Callable[[float, int], bool], m: int, draws: int) -> bool:
    """Tell whether the goal holds within two binomial standard errors."""
    error = 2.0 * math.sqrt(max(value * (1 - value), 1e-4) / draws)
    steps = [value + error * step / 10 for step in range(-10, 11)]
    return any(holds(step, m) for step in steps)


def markdown(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Write a table."""
    rule = ["---", *["--:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in (header, rule, *rows))
