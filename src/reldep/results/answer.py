"""What the answers to all questions share."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reldep.data.checks import check_level
from reldep.data.frames import make_frame
from reldep.results import sentences
from reldep.results.description import HEADINGS, Columns, Picture, Section, rendered
from reldep.results.strength import Scale, correlations, scale_of, strength_text
from reldep.version import __version__
from reldep.words import MEASURE_NAMES, counted, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from reldep.engine.terms import Pair
    from reldep.exceptions import ReldepWarning
    from reldep.results.provenance import Provenance

SCHEMA = "reldep.result/2"


@dataclass(frozen=True, eq=False)
class Answer(ABC):
    """What every answer carries, and what it can say of itself.

    Pages, terminals and pictures are made from what stands here, and know no answer by name.

    Attributes
    ----------
    provenance : Provenance
        How the answer was computed.
    warnings : tuple of ReldepWarning
        Cautions; each was also raised as a Python warning.
    """

    provenance: Provenance
    warnings: tuple[ReldepWarning, ...]

    @property
    def n_observations(self) -> int:
        """The number of observations used."""
        return len(self.provenance.rows)

    @property
    def measure(self) -> str:
        """The measure of dependence: "hsic", "cka" or "dcor"."""
        return self.provenance.measure

    @property
    def variance(self) -> str:
        """How the variance was estimated."""
        return self.provenance.variance

    @property
    def max_lag(self) -> int | str | None:
        """How many steps apart rows may depend on each other, as given or as chosen."""
        return self.provenance.dependence.max_lag

    @property
    def n_clusters(self) -> int | None:
        """The number of clusters within which rows may depend on each other."""
        return self.provenance.dependence.n_clusters

    @abstractmethod
    def question(self) -> str:
        """Say what was asked."""

    @abstractmethod
    def sentence(self, alpha: float = 0.05) -> str:
        """Say the answer in one or two sentences."""

    @abstractmethod
    def table(self, alpha: float = 0.05) -> dict[str, list[Any]]:
        """Give the columns of the answer's table, unrounded; intervals are at 1 - alpha."""

    @abstractmethod
    def pictures(self) -> tuple[Picture, ...]:
        """Give the pictures of the answer, the natural one first."""

    @abstractmethod
    def key_numbers(self, alpha: float = 0.05) -> dict[str, str]:
        """Give the few numbers that stand below the answer, by their names."""

    @abstractmethod
    def table_caption(self, alpha: float = 0.05) -> str:
        """Say what the table shows."""

    def strongest(self, alpha: float | None, most: int) -> tuple[dict[str, list[Any]], str]:  # noqa: ARG002
        """Give the rows of the table that a page has room for, and which they are.

        Tables that are too long have their rows cut; those of thousands of variables show the
        strongest ones.
        """
        return self._table_at(alpha), ""

    def _table_at(self, alpha: float | None) -> dict[str, list[Any]]:
        """Give the table at a level, or at the answer's own."""
        return self.table() if alpha is None else self.table(alpha)

    def _scales(self, pairs: Sequence[Pair]) -> list[Scale]:
        """Return the curve from dependences to correlations for every pair."""
        how = self.provenance
        scales = [scale_of(pair, how.measure, how.kernels) for pair in pairs]
        if how.conditioning is None:
            return scales
        # What is left of a variable after others have been held fixed is no single column.
        return [Scale(scale.kernel, is_own=False) for scale in scales]

    def _correlations(self, pairs: Sequence[Pair], values: Sequence[float]) -> list[float]:
        return correlations(values, self._scales(pairs))

    def _correlation_column(
        self, pairs: Sequence[Pair], values: Sequence[float], low: Sequence[float]
    ) -> dict[str, list[Any]]:
        """Return the column of correlations for a table; none for HSIC.

        A row is empty where the interval begins at 0, since no dependence is shown there, and
        where it has no pair.
        """
        if self.measure == "hsic":
            return {}
        found = self._correlations(pairs, values)
        shown = [one if start > 0 else None for one, start in zip(found, low, strict=False)]
        return {"as_correlation": shown + [None] * (len(low) - len(shown))}

    def _strength(self, pairs: Sequence[Pair], values: Sequence[float]) -> str:
        """Say how strong dependences are that are shown to exist, as the end of a sentence."""
        if self.measure == "hsic" or not pairs:
            return ""
        return f", {strength_text(values, self._scales(pairs))}"

    def values(self, alpha: float = 0.05) -> dict[str, Any]:  # noqa: ARG002
        """Give the numbers that belong to this kind of answer only, for `to_dict`."""
        return {}

    def headings(self) -> dict[str, str]:
        """Give a heading for every column of the table."""
        return {name: HEADINGS.get(name, name.replace("_", " ")) for name in self.table()}

    def settings(self) -> dict[str, str]:
        """Give the choices behind the answer, by their names."""
        how = self.provenance
        dropped = f" ({how.n_dropped:,} incomplete left out)" if how.n_dropped else ""
        held = how.conditioning
        return {
            "Given": "" if held is None else held.shares_in_words(),
            "Rows": how.scope or "",
            "Measure": MEASURE_NAMES[how.measure],
            "Variance": how.variance,
            "Observations": f"{self.n_observations:,}{dropped}{self._dependent_rows()}",
            "Engine": how.engine,
            "Random seed": how.seed,
        }

    def sections(self) -> tuple[Section, ...]:
        """Give further parts of a report about this answer."""
        return ()

    def references(self) -> tuple[str, ...]:
        """Name the sources that a report lists, by their keys in the bibliography."""
        own = () if self.measure == "hsic" else (self.measure,)
        return ("test", "hsic", *own)

    def plot(self, ax: Any = None) -> Any:
        """Draw the natural picture of this answer and return the matplotlib Axes."""
        return self.pictures()[0].draw(self, ax)

    def to_frame(self) -> Any:
        """Give the table as a data frame, in the library the data came from (else polars)."""
        return make_frame(self.table(), self.provenance.library)

    def to_dict(self, alpha: float = 0.05) -> dict[str, Any]:
        """Give the answer as plain values, numbers unrounded."""
        check_level("alpha", alpha)
        how, columns = self.provenance, self.table(alpha)
        fields: dict[str, Any] = plain(
            {
                "schema": SCHEMA,
                "version": __version__,
                "kind": type(self).__name__.lower(),
                "question": self.question(),
                "answer": self.sentence(alpha),
                "alpha": alpha,
                "measure": how.measure,
                "variance": how.variance,
                "n_observations": self.n_observations,
                "n_dropped": how.n_dropped,
                "scope": how.scope,
                **_conditioning(how),
                **self.values(alpha),
                "table": [
                    dict(zip(columns, row, strict=True))
                    for row in zip(*columns.values(), strict=True)
                ],
                "cautions": [
                    {"kind": type(caution).__name__, "text": str(caution)}
                    for caution in self.warnings
                ],
                "kernels": how.kernels,
                "engine": how.engine,
                "seed": how.seed,
                "call": how.call,
            }
        )
        return fields

    def to_json(self, alpha: float = 0.05) -> str:
        """Give the answer as JSON, numbers unrounded."""
        return json.dumps(self.to_dict(alpha), indent=2, allow_nan=False)

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        alpha: float = 0.05,
        sensitivity: Answer | None = None,
        command: str | None = None,
    ) -> str | None:
        """Write a report: the answer, pictures, cautions and how it was computed, in one file.

        Parameters
        ----------
        path : str or path-like, optional
            Where to write it. Without a path the document is returned as a string.
        alpha : float, default 0.05
            The level of the answer.
        sensitivity : Sensitivity, optional
            From :func:`reldep.sensitivity`; adds a section about the bandwidth.
        command : str, optional
            What to type to repeat the result; by default the Python call.

        Returns
        -------
        str or None
            None where the file was written.
        """
        from pathlib import Path

        from reldep.io import write_atomically

        document: str = rendered("report", "page")(
            self, alpha=alpha, sensitivity=sensitivity, command=command
        )
        if path is None:
            return document
        with write_atomically(Path(path)) as temporary:
            temporary.write_text(document, encoding="utf-8")
        return None

    def to_latex(self) -> str:
        """Write the table in LaTeX, for the package booktabs."""
        return str(rendered("report", "latex_table")(self))

    def to_markdown(self) -> str:
        """Write the answer and its table in Markdown."""
        return str(rendered("report", "markdown_table")(self))

    def _repr_html_(self) -> str:
        return str(rendered("report", "fragment")(self))

    def summary(self, alpha: float = 0.05) -> str:
        """Say the answer in words and show the numbers behind it."""
        lines = [self.sentence(alpha), "", self._text_table(self.table(alpha))]
        lines += ["", *self.footnotes()]
        lines += [f"Caution: {caution}" for caution in self.warnings]
        return "\n".join(lines).rstrip()

    def footnotes(self) -> list[str]:
        """Say below the table how the numbers were computed."""
        how = self.provenance
        kernels = "; ".join(f"{name}: {k['kernel']}" for name, k in how.kernels.items())
        dropped = f" ({how.n_dropped:,} incomplete left out)" if how.n_dropped else ""
        held = [] if how.conditioning is None else [_sentence(how.conditioning.shares_in_words())]
        return [
            *held,
            f"{counted(self.n_observations, 'observation')}{dropped}; variance: {self.variance}"
            f"{self._dependent_rows()}.",
            f"Kernels: {kernels}.",
        ]

    def _asked(self, clause: str) -> str:
        """Return a question with what it is about: covariates, measure and rows."""
        scope = self.provenance.scope
        rows = f", among {scope}" if scope else ""
        return f"{clause}{self._given()}, by {MEASURE_NAMES[self.measure]}{rows}?"

    def _with_facts(self, said: str, *facts: str) -> str:
        """Return a sentence with what must stand beside it, such as the rows left out."""
        dropped = sentences.left_out(self.provenance.n_dropped)
        return " ".join(filter(None, [said, *facts, dropped]))

    def _given(self) -> str:
        """Say which covariates were held fixed, as the end of a clause."""
        held = self.provenance.conditioning
        return "" if held is None else f" given {held.in_words()}"

    def _text_table(self, columns: Columns) -> str:
        cells = [[_cell(name, value) for value in column] for name, column in columns.items()]
        return text_table(list(columns), list(zip(*cells, strict=True)))

    def _dependent_rows(self) -> str:
        """Say which rows may depend on each other, as the end of a sentence."""
        words = self.provenance.dependence.in_words()
        return f", {words}" if words else ""

    def __str__(self) -> str:
        return self.summary()


def _conditioning(how: Provenance) -> dict[str, Any]:
    held = how.conditioning
    if held is None:
        return {}
    return {"given": {"columns": held.columns, "explained": dict(held.explained)}}


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}." if words.startswith("the ") else f"{words}."


def plain(value: Any) -> Any:
    """Turn values into those JSON knows: lists for tuples, Python's numbers for NumPy's."""
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    # JSON has no infinity.
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if name == "as_correlation":
        return f"{value:.2f}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
