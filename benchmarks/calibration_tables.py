"""Tables of the calibration page beyond independent rows: from the stored counts to Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from counting import Rates, Tally, remembered
from kernel_holdout import HOLD_OUT
from kernel_page import rates as kernel_rates
from kernel_page import regrets

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

# A share of fewer samples than this is left out of the table of cautions.
FEW_SAMPLES = 15


def shown(value: float | None) -> str:
    """Write a rate as is usual for levels: .050."""
    if value is None:
        return "–"
    text = f"{value:.3f}"
    return text[1:] if text.startswith("0") else text


def ranking_table() -> str:
    rates = Rates(Tally("calibration_many").rows())
    cells = {(law, m) for law, m, *_ in rates.keys()}  # noqa: SIM118
    quantities = {
        "false claim: old": "false claim, old",
        "false claim": "false claim",
        "best lost": "best lost",
        "rank sets wrong": "rank sets wrong",
        "some difference missed": "differences not covered",
        "some dependence missed": "dependences not covered",
        "differences found": "share of differences found",
    }

    def place(cell: tuple[str, int]) -> tuple[int, int, int]:
        law, p = cell[0].split(", p = ")
        return ("tied", "three groups", "one ahead").index(law), int(p), cell[1]

    body = [
        [law, str(m), f"{rates.draws(law, m, 'cka', '', 'false claim'):,}"]
        + [shown(rates(law, m, "cka", "", q)) for q in quantities.values()]
        for law, m in sorted(cells, key=place)
    ]
    return markdown(["targets", "rows", "samples", *quantities], body)


def caution_table() -> str:
    """Give the share of samples with each caution, where it is due and where it is not."""
    found: dict[tuple[str, str, str], dict[str, list[str]]] = {}
    for row in Tally("calibration_cautions").rows():
        caution, words = row["law"].split(": ", 1)
        if row["draws"] < FEW_SAMPLES:
            continue
        text = f"{row['m']}: {100 * row['count'] / row['draws']:.0f}%"
        cell = found.setdefault((caution, words, row["method"]), {})
        cell.setdefault(row["quantity"], []).append(text)
    body = [
        [caution, words, "yes" if due == "due" else "no"]
        + [", ".join(cell.get(what, ["–"])) for what in ("given", "rejected")]
        for (caution, words, due), cell in found.items()
    ]
    header = ["caution", "data", "due", "rows: samples with the caution", "rows: level at 5%"]
    return markdown(header, body)


def caution_samples() -> str:
    """Say how many samples there are of each situation and size."""
    totals: dict[tuple[str, int], int] = {}
    for row in Tally("calibration_cautions").rows():
        key = (row["law"], row["m"])
        if row["quantity"] == "given":
            totals[key] = totals.get(key, 0) + row["draws"]
    low, high = min(totals.values()), max(totals.values())
    return str(low) if low == high else f"{low} to {high}"


def scales_table() -> str:
    rates = Rates(Tally("calibration_scales").rows())
    cells = dict.fromkeys((law, m) for law, m, *_ in rates.keys())  # noqa: SIM118
    quantities = {
        "bands cover": "bands cover",
        "intervals cover": "intervals cover",
        "smallest of 13 p-values": "smallest of all",
        "**at some**": "some, two-sided",
        "13 × the smallest": "Bonferroni",
        "**at every**": "every, two-sided",
    }
    body = [
        [law, str(m), *(shown(rates(law, m, "cka", "", q)) for q in quantities.values())]
        for law, m in cells
    ]
    return markdown(["law", "rows", *quantities], body)


def scales_samples() -> str:
    """Say how many samples there are of each law and size."""
    draws = Tally("calibration_scales").draws().values()
    low, high = min(draws), max(draws)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


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


def dependent_samples(kinds: Collection[str]) -> str:
    """Say how many samples were tested; a few have no self-HSIC without some cluster."""
    rows = Tally("calibration_dependent").rows()
    draws = sorted({row["draws"] for row in rows if row["method"] in kinds})
    return f"{draws[0]:,}" if len(draws) == 1 else f"{draws[0]:,} to {draws[-1]:,}"


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


def regret_table(laws: Collection[str]) -> str:
    """Give the largest and the mean regret of every kernel, at sizes at which all laws were run."""
    found = [m for law, m in kernel_rates("different") if law in laws]
    sizes = [m for m in sorted(set(found)) if found.count(m) == len(laws)]
    if not sizes:
        return "(not run)"
    by_size = {m: regrets(m, laws) for m in sizes}
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
        [f"{law} (held out)" if law in HOLD_OUT else law]
        + [shown(powers[kernel]) for kernel in kernels]
        + [shown(equal[law, m]["Laplace, mean"])]
        for (law, m), powers in different.items()
        if m == 50
    ]
    return markdown(["law", *kernels, "level, Laplace, mean"], body)


def markdown(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Write a table."""
    rule = ["---", *["--:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in (header, rule, *rows))
