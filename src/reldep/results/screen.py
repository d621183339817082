"""What the answers about thousands of variables share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reldep import plotting
from reldep.data.checks import check_level
from reldep.data.frames import make_frame
from reldep.description import Picture, Table
from reldep.results.answer import Answer
from reldep.results.description import Columns, described
from reldep.words import percent

if TYPE_CHECKING:
    from reldep.data.variables import BoolArray, FloatArray, IntArray

# Dots of a picture that have names: more would lie on each other.
LABELLED = 10


@dataclass(frozen=True, eq=False, repr=False)
class Screen(Answer):
    """What the answers about thousands of variables share.

    Attributes
    ----------
    log10_pvalues : ndarray, shape (S,)
        Decimal logarithms, which cannot underflow.
    fdr : ndarray, shape (S,)
        The false-discovery rate at which each would be claimed (Benjamini and Hochberg).
    adjusted_pvalues : ndarray, shape (S,)
        Adjusted for the number of variables, so that the chance of any false claim is kept.
    adjust : str
    skipped : tuple of (str, str)
        Variables that were left out, and why.
    notes : tuple of (str, str)
        Variables that a reader should look at, and what is to be said of them: many equal
        values, or a copy of what they are compared with.
    variables : tuple of str
        Those that were tested, in the order given.
    """

    role: ClassVar[str]

    log10_pvalues: FloatArray
    fdr: FloatArray
    adjusted_pvalues: FloatArray
    adjust: str
    skipped: tuple[tuple[str, str], ...]
    notes: tuple[tuple[str, str], ...]
    variables: tuple[str, ...]

    @property
    @abstractmethod
    def estimates(self) -> FloatArray:
        """The estimate of every variable."""

    @abstractmethod
    def _axis(self) -> str:
        """Say what the estimates are, for the axis of a picture."""

    @abstractmethod
    def _shown_in_words(self) -> tuple[str, str]:
        """Say in a few words, and in a sentence or two, what the picture shows."""

    @property
    def pvalues(self) -> FloatArray:
        """The p-value of every variable by itself."""
        return np.asarray(10.0**self.log10_pvalues)

    def is_discovery(self, fdr: float = 0.05) -> BoolArray:
        """Tell which variables are claimed if a share `fdr` of false claims is accepted."""
        return np.asarray(self.fdr <= check_level("fdr", fdr))

    def is_shown(self, alpha: float = 0.05) -> BoolArray:
        """Tell which variables are claimed if any false claim is to have a chance of `alpha`."""
        return np.asarray(self.adjusted_pvalues <= alpha)

    def skipped_frame(self) -> Any:
        """Give a data frame of the variables that were left out, and why."""
        columns = {
            "name": [name for name, _ in self.skipped],
            "reason": [reason for _, reason in self.skipped],
        }
        return make_frame(columns, self.provenance.library)

    def _strongest(self) -> IntArray:
        """Give the variables by their evidence, the strongest first."""
        return np.argsort(self.log10_pvalues, kind="stable")

    def _described(self, columns: Columns, alpha: float) -> Table:
        return described(
            columns,
            self.table_caption(alpha),
            self.headings(),
            order=self._strongest().tolist(),
            shown="The {n:,} of {all:,} with the strongest evidence.",
        )

    def settings(self) -> dict[str, str]:
        """Give the choices behind the answer, with the adjustment."""
        return super().settings() | {"Adjustment of p-values": self.adjust}

    def headings(self) -> dict[str, str]:
        """Give a heading for every column of the table."""
        return super().headings() | {"fdr": "false-discovery rate", "statistic": "t"}

    def key_numbers(self, alpha: float = 0.05) -> dict[str, str]:
        """Give the number of variables and of claims."""
        return {
            self.role.capitalize(): f"{len(self.variables):,}",
            f"At a false-discovery rate of {percent(alpha)}": (
                f"{int(self.is_discovery(alpha).sum()):,}"
            ),
            f"At a {percent(alpha)} chance of any false claim": (
                f"{int(self.is_shown(alpha).sum()):,}"
            ),
            "Skipped": f"{len(self.skipped):,}",
        }

    def values(self, alpha: float = 0.05) -> dict[str, Any]:
        """Give the number of claims and what was left out."""
        return {
            "adjust": self.adjust,
            "n_discoveries": int(self.is_discovery(alpha).sum()),
            "skipped": [{"name": name, "reason": reason} for name, reason in self.skipped],
        }

    def pictures(self, columns: Columns, alpha: float) -> tuple[Picture, ...]:  # noqa: ARG002
        """Draw estimates against the strength of their evidence."""
        title, text = self._shown_in_words()
        marked = f"Marked: false-discovery rate of at most {percent(alpha)}."
        draw = partial(
            plotting.volcano,
            self.estimates,
            self.log10_pvalues,
            self.variables,
            significant=self.is_discovery(alpha),
            top=LABELLED,
            xlabel=self._axis(),
        )
        return (Picture(draw, title, f"{text} {marked}"),)
