"""What the answers to all questions share."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reldep import plotting, report
from reldep.data.checks import check_level
from reldep.data.frames import make_frame
from reldep.description import Description, Picture, Section, Table, Value
from reldep.io import write_atomically
from reldep.results import sentences
from reldep.results.description import HEADINGS, Columns, described
from reldep.results.strength import Scale, correlations, scale_of, strength_text
from reldep.words import MEASURE_NAMES, counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from reldep.engine.centred import Pair
    from reldep.exceptions import ReldepWarning
    from reldep.results.provenance import Provenance

# Rows of a table on the ruler of correlations: as many as can be compared at a glance.
MOST_ON_RULER = 12


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
    def pictures(self, columns: Columns, alpha: float) -> tuple[Picture, ...]:
        """Return the pictures of the answer, the natural one first.

        Parameters
        ----------
        columns : dict
            The table at the level `alpha`.
        alpha : float
        """

    @abstractmethod
    def key_numbers(self, alpha: float = 0.05) -> dict[str, str]:
        """Give the few numbers that stand below the answer, by their names."""

    @abstractmethod
    def table_caption(self, alpha: float = 0.05) -> str:
        """Say what the table shows."""

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
        self, pairs: Sequence[Pair], values: Sequence[float], shown: Sequence[bool]
    ) -> Columns:
        """Return the column of correlations for a table; none for HSIC.

        A cell is empty where no dependence is shown.
        """
        if self.measure == "hsic":
            return {}
        found = self._correlations(pairs, values)
        cells = [one if is_shown else None for one, is_shown in zip(found, shown, strict=True)]
        return {"as_correlation": cells}

    def _strength(self, pairs: Sequence[Pair], values: Sequence[float]) -> str:
        """Say how strong dependences are that are shown to exist, as the end of a sentence."""
        if self.measure == "hsic" or not pairs:
            return ""
        return f", {strength_text(values, self._scales(pairs))}"

    def values(self, alpha: float = 0.05) -> dict[str, Any]:  # noqa: ARG002
        """Give the numbers that belong to this kind of answer only, for `to_dict`."""
        return {}

    def headings(self) -> dict[str, str]:
        """Return headings for the columns of the table."""
        return dict(HEADINGS)

    def settings(self) -> dict[str, str]:
        """Give the choices behind the answer, by their names."""
        how = self.provenance
        dropped = f" ({how.n_dropped:,} incomplete left out)" if how.n_dropped else ""
        held = how.conditioning
        return {
            "Given": "" if held is None else held.shares_in_words(),
            "Rows": how.scope or "",
            "Data": " ".join(how.notes),
            "Measure": MEASURE_NAMES[how.measure],
            "Variance": how.variance,
            "Observations": f"{self.n_observations:,}{dropped}{self._dependent_rows()}",
            "Engine": how.engine,
            "Random seed": how.seed,
        }

    def sections(self, alpha: float) -> tuple[Section, ...]:  # noqa: ARG002
        """Return further parts of a report about this answer."""
        return ()

    def _ruler(self, pairs: Sequence[Pair], columns: Columns) -> tuple[Picture, ...]:
        """Return the first rows of the table on a ruler of correlations.

        There is none for HSIC, nor where pairs have different curves.
        """
        if self.measure == "hsic" or len({scale.kernel for scale in self._scales(pairs)}) != 1:
            return ()
        names, *_ = columns.values()
        values = columns.get(self.measure, columns.get("estimate", []))
        n = min(len(pairs), MOST_ON_RULER)
        draw = partial(
            plotting.strength,
            *(column[:n] for column in (names, values, columns["low"], columns["high"])),
            measure=self.measure,
            shown=[one is not None for one in columns["as_correlation"][:n]],
            kernel=self._scales(pairs[:1])[0].kernel,
        )
        measure = MEASURE_NAMES[self.measure]
        return (
            Picture(
                draw,
                f"{measure} with intervals on a ruler of correlations.",
                f"How strong is that? Below, {measure}; above, the correlation at which two "
                "bell-shaped variables have it. No sign is implied. Hollow dots are not shown to "
                "be related.",
            ),
        )

    def references(self) -> tuple[str, ...]:
        """Name the sources that a report lists, by their keys in the bibliography."""
        own = () if self.measure == "hsic" else (self.measure,)
        return ("test", "hsic", *own)

    def describe(self, alpha: float | None = None) -> Description:
        """Return the answer as plain parts, from which everything that shows it is made.

        Parameters
        ----------
        alpha : float, optional
            The level of the sentence and of the intervals; by default 0.05, or that of the answer.

        Returns
        -------
        reldep.description.Description
        """
        alpha = self._alpha(alpha)
        how, columns = self.provenance, self.table(alpha)
        shown = [Value("", name, text) for name, text in self.key_numbers(alpha).items()]
        own = [Value(name, "", value) for name, value in self.values(alpha).items()]
        return Description(
            kind=type(self).__name__.lower(),
            question=self.question(),
            sentence=self.sentence(alpha),
            alpha=alpha,
            numbers=(*shown, Value("", "Observations", f"{self.n_observations:,}"), *own),
            table=self._described(columns, alpha),
            cautions=self.warnings,
            pictures=self.pictures(columns, alpha),
            sections=self.sections(alpha),
            notes=tuple(self.footnotes()),
            facts=(*_facts(how), *(Value("", *fact) for fact in self.settings().items())),
            kernels=how.kernels,
            measure=self.measure,
            references=self.references(),
            call=how.call,
        )

    def _described(self, columns: Columns, alpha: float) -> Table:
        return described(columns, self.table_caption(alpha), self.headings())

    def plot(self, ax: Any = None) -> Any:
        """Draw the natural picture of this answer and return the matplotlib Axes."""
        alpha = self._alpha(None)
        return self.pictures(self.table(alpha), alpha)[0].draw(ax)

    def _alpha(self, alpha: float | None) -> float:
        """Check a level, or return that of the answer."""
        return 0.05 if alpha is None else check_level("alpha", alpha)

    def to_frame(self) -> Any:
        """Return the table as a data frame, in the library the data came from (else polars)."""
        return make_frame(self.table(), self.provenance.library)

    def to_dict(self, alpha: float | None = None) -> dict[str, Any]:
        """Return the answer as plain values, numbers unrounded."""
        return report.dictionary(self.describe(alpha))

    def to_json(self, alpha: float | None = None) -> str:
        """Return the answer as JSON, numbers unrounded."""
        return json.dumps(self.to_dict(alpha), indent=2, allow_nan=False)

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        alpha: float | None = None,
        sensitivity: Any = None,
        command: str | None = None,
    ) -> str | None:
        """Write a report: the answer, pictures, cautions and how it was computed, in one file.

        Parameters
        ----------
        path : str or path-like, optional
            Where to write it. Without a path the document is returned as a string.
        alpha : float, optional
            The level of the sentence and of the intervals; by default 0.05, or that of the answer.
        sensitivity : Sensitivity, optional
            From :func:`reldep.sensitivity`; adds a section about the bandwidth.
        command : str, optional
            What to type to repeat the result; by default the Python call.

        Returns
        -------
        str or None
            None where the file was written.
        """
        parts = self.describe(alpha)
        if sensitivity is not None:
            parts = parts.beside(sensitivity.as_section(parts.alpha), sensitivity.warnings)
        document = report.page(parts if command is None else replace(parts, call=command))
        if path is None:
            return document
        with write_atomically(Path(path)) as temporary:
            temporary.write_text(document, encoding="utf-8")
        return None

    def to_latex(self) -> str:
        """Return the table in LaTeX, for the package booktabs."""
        return report.latex_table(self.describe())

    def to_markdown(self) -> str:
        """Return the answer and its table in Markdown."""
        return report.markdown_table(self.describe())

    def _repr_html_(self) -> str:
        return str(report.fragment(self.describe()))

    def summary(self, alpha: float | None = None) -> str:
        """Return the answer in words with the numbers behind it."""
        return report.plain_text(self.describe(alpha))

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
            *how.notes,
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

    def _dependent_rows(self) -> str:
        """Say which rows may depend on each other, as the end of a sentence."""
        words = self.provenance.dependence.in_words()
        return f", {words}" if words else ""

    def __str__(self) -> str:
        return self.summary()


def _facts(how: Provenance) -> list[Value]:
    """Return what programs get to know about the computation."""
    facts: dict[str, Any] = {
        "variance": how.variance,
        "n_observations": len(how.rows),
        "n_dropped": how.n_dropped,
        "scope": how.scope,
        "notes": how.notes,
        "engine": how.engine,
        "seed": how.seed,
    }
    held = how.conditioning
    if held is not None:
        facts["given"] = {"columns": held.columns, "explained": dict(held.explained)}
    return [Value(name, "", value) for name, value in facts.items()]


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}." if words.startswith("the ") else f"{words}."
