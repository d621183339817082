"""The page that publishes the calibration: tables in Markdown, written from the stored counts."""

from __future__ import annotations

import itertools
import math
import textwrap
from typing import TYPE_CHECKING

import calibration_between
import calibration_given
import calibration_groups
import calibration_tables as tables
import calibration_words as words
from calibration_rows import DRAWS, SETTINGS
from calibration_tables import markdown, shown
from counting import Rates, Tally
from kernel_holdout import HOLD_OUT
from kernel_laws import LAWS
from sampling_models import ALTERNATIVES, MODELS

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = sorted(DRAWS)
# Exact independence is a corner of the hypothesis where no such test reaches its level.
CORNER = ("independent",)
WIDTH = 99


def page() -> str:
    """Write the whole page."""
    rows = Rates(Tally("calibration_rows").rows())
    scales = Tally("calibration_scales").rows()
    laws = "\n".join(f"- **{name}**: {model.description}." for name, model in MODELS.items())
    return "\n".join(
        [
            words.INTRODUCTION.format(
                laws=laws, goals=goals(rows), extremes=extremes(rows), draws=draws_in_words()
            ),
            words.LEVEL.format(table=level_table(rows)),
            words.TAILS.format(table=tail_table(rows)),
            words.COVERAGE.format(table=coverage_table(rows)),
            words.POWER.format(table=power_table()),
            words.RANKINGS.format(table=tables.ranking_table()),
            *([_scales()] if scales else []),
            words.CLUSTERS.format(
                table=tables.dependent_table("clusters"),
                samples=tables.dependent_samples(("clusters", "series")),
            ),
            words.SERIES.format(table=tables.dependent_table("series")),
            words.INDEPENDENCE.format(table=tables.independence_table()),
            calibration_between.section(),
            calibration_groups.section(),
            calibration_given.section(),
            words.CAUTIONS.format(table=tables.caution_table(), samples=tables.caution_samples()),
            words.CLASSICS.format(table=tables.classics_table()),
            words.BOOTSTRAP.format(table=tables.bootstrap_table()),
            words.PLANNING.format(table=tables.planning_table()),
            words.KERNEL.format(
                table=tables.regret_table(LAWS),
                held_out=tables.regret_table(HOLD_OUT),
                powers=tables.kernel_power_table(),
            ),
        ]
    )


def _scales() -> str:
    return words.SCALES.format(table=tables.scales_table(), samples=tables.scales_samples())


def level(rates: Rates, law: str, m: int, setting: str, method: str) -> float | None:
    """Give the two-sided level."""
    sides = [rates(law, m, setting, method, side) for side in ("upper", "lower")]
    return None if all(side is None for side in sides) else sum(side or 0.0 for side in sides)


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

    def tails(law: str, m: int) -> str:
        sides = [rates(law, m, "cka", "jackknife", side) for side in ("lower", "upper")]
        if all(side is None for side in sides):
            return "–"
        return " / ".join(shown(side or 0.0) for side in sides)

    body = [[law, *(tails(law, m) for m in SIZES)] for law in MODELS]
    return markdown(["law", *(f"{m:,} rows" for m in SIZES)], body)


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
        for m in SIZES
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
        for m in SIZES
        if rates(name, m, "cka", "jackknife", "power") is not None
    ]
    return markdown(header, body)


def extremes(rates: Rates) -> str:
    """Say how far each of the three tests of the picture strays above its level."""
    parts = []
    for test, setting, method in (
        ("the published test", "hsic", "fixed-kernel"),
        ("its variance with CKA", "cka, Gaussian", "fixed-kernel"),
        ("the default", "cka", "jackknife"),
    ):
        found = {
            (law, m): level(rates, law, m, setting, method) or 0.0 for law in MODELS for m in SIZES
        }
        law, m = max(found, key=lambda key: found[key])
        parts.append(f"{test} {100 * found[law, m]:.1f}% ({law}, {m} rows)")
    text = f"The most that each rejects at 5%: {parts[0]}, {parts[1]}, {parts[2]}."
    return textwrap.fill(text, WIDTH)


def draws_in_words() -> str:
    """Say how many samples there are at each size, and what error that leaves."""
    known: dict[int, set[int]] = {}
    for row in Tally("calibration_rows").rows():
        if (row["measure"], row["method"]) == ("cka", "jackknife"):
            known.setdefault(row["m"], set()).add(row["draws"])
    parts = []
    for m, found in sorted(known.items()):
        n = min(found)
        error = 2.0 * math.sqrt(0.05 * 0.95 / n)
        parts.append(f"{n:,} samples at {m:,} rows (±{shown(error)})")
    missing = [f"{m:,}" for m in SIZES if m not in known]
    text = f"Of every law there are at least {', '.join(parts)}."
    if missing:
        text += f" Not run: {', '.join(missing)} rows."
    return textwrap.fill(text, WIDTH)


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
    for goal, holds, quantity in checks:
        total, strict, missed = 0, 0, []
        for law, m in itertools.product(MODELS, SIZES):
            value = _quantity(rates, law, m, quantity)
            beside = quantity == "level" and (m < 50) != ("20" in goal)
            if law in CORNER or value is None or beside:
                continue
            total += 1
            strict += holds(value, m)
            if not _within_error(value, holds, m, _draws(rates, law, m)):
                missed.append(f"{law} at {m} rows ({shown(value)})")
        found = f"{total - len(missed)} ({strict}) of {total} laws and sizes"
        lines.append(f"- {goal}: {found}" + (f"; missed: {', '.join(missed)}." if missed else "."))
    lines += power_goals().splitlines()
    return "\n".join(
        textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False) for line in lines
    )


def _quantity(rates: Rates, law: str, m: int, quantity: str) -> float | None:
    if quantity == "level":
        return level(rates, law, m, "cka", "jackknife")
    return rates(law, m, "cka", "jackknife", quantity)


def _draws(rates: Rates, law: str, m: int) -> int:
    return max(rates.draws(law, m, "cka", "jackknife", side) for side in ("upper", "lower"))


def power_goals() -> str:
    """Compare the power of the default with that of the published test."""
    rates = Rates(Tally("calibration_power").rows())
    own, missed, total = [], [], 0
    for name, m in itertools.product(ALTERNATIVES, SIZES):
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
