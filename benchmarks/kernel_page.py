"""The regret of every kernel, from the counts of the default-kernel study."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from default_kernel import KERNELS, LAWS, TABLE

if TYPE_CHECKING:
    from collections.abc import Collection


def rates(hypothesis: str) -> dict[tuple[str, int], dict[str, float]]:
    """Give the rejection rate of every kernel by law and size."""
    found: dict[tuple[str, int], dict[str, float]] = {}
    with TABLE.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["hypothesis"] == hypothesis:
                rate = int(row["rejections"]) / max(int(row["draws"]), 1)
                found.setdefault((row["law"], int(row["m"])), {})[row["kernel"]] = rate
    return found


def regrets(m: int, laws: Collection[str]) -> dict[str, dict[str, float]]:
    """Give what each kernel loses against the best one, by kernel and law."""
    lost: dict[str, dict[str, float]] = {kernel: {} for kernel in KERNELS}
    for (law, size), powers in rates("different").items():
        if size == m and law in laws:
            for kernel in KERNELS:
                lost[kernel][law] = max(powers.values()) - powers[kernel]
    return lost


def main() -> None:
    for m in sorted({size for _, size in rates("different")}):
        levels = [powers for (_, size), powers in rates("equal").items() if size == m]
        print(f"m = {m}, {len(levels)} laws: largest regret, mean regret; lowest, largest level")
        for kernel, lost in regrets(m, LAWS).items():
            own = [powers[kernel] for powers in levels]
            worst = max(lost, key=lost.get)
            print(
                f"{kernel:25s} {max(lost.values()):.3f} ({worst})"
                f" {sum(lost.values()) / len(lost):.3f}"
                f"  level {min(own):.3f} to {max(own):.3f}"
            )


if __name__ == "__main__":
    main()
