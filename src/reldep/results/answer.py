"""What the answers to all questions share."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from reldep import plotting, report
from reldep.data.checks import check_level
from reldep.data.frames import make_frame
from reldep.description import Description, Picture, Section, Table, Value
from reldep.io import write
from reldep.results import sentences
from reldep.results.strength import Scale, correlations, scale_of, strength_text
from reldep.words import MEASURE_NAMES, counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from reldep.engine.centred import Pair
    from reldep.exceptions import ReldepWarning
    from reldep.results.columns import Columns
    from reldep.results.provenance import Provenance

# Rows of a table on the ruler of correlations: as many as can be compared at a glance.
MOST_ON_RULER = 12
# Different kernels that a note lists one by one; more would bury the answer.
MOST_KERNELS = 6

OUTSIDE = (
    "Estimates are unbiased, so that they may lie below 0 where there is no relation; intervals "
    "contain possible values only."
)


@dataclass(frozen=True, eq=False, repr=False)
class Answer(ABC):
    """What every answer carries, and how it is shown.

    An answer declares its columns in `_columns` and everything else in `describe`. Pages,
    terminals, data frames and pictures are made from these and know no answer by name.

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
    def call(self) -> str:
        """The Python call that repeats the answer."""
        return self.provenance.call

    @property
    def facts(self) -> dict[str, Any]:
        """How the answer was computed, by name: variance, engine, rows, seed, covariates."""
        return {one.name: one.value for one in self._facts() if one.name}

    @abstractmethod
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

    @abstractmethod
    def _columns(self, alpha: float) -> Columns:
        """Return the columns of the table, unrounded; intervals are at 1 - alpha."""

    def sentence(self, alpha: float | None = None) -> str:
        """Return the answer in one or two sentences."""
        return self.describe(alpha).sentence

    def summary(self, alpha: float | None = None) -> str:
        """Return the answer in words with the numbers behind it."""
        return report.plain_text(self.describe(alpha))

    def plot(self, ax: Any = None) -> Any:
        """Draw the natural picture of this answer and return the matplotlib Axes."""
        return self.describe().pictures[0].draw(ax)

    def to_frame(self) -> Any:
        """Return the table as a data frame, in the library the data came from (else polars)."""
        return self._frame(self._columns(self._alpha(None)))

    def to_json(self, alpha: float | None = None) -> str:
        """Return the answer as JSON, numbers unrounded."""
        return json.dumps(report.dictionary(self.describe(alpha)), indent=2, allow_nan=False)

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        alpha: float | None = None,
        sensitivity: Any = None,
        command: str | None = None,
        overwrite: bool = False,
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
        overwrite : bool, default False
            Whether to replace a file that reldep did not make.

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
        write(path, document, overwrite=overwrite)
        return None

    def to_latex(self) -> str:
        """Return the table in LaTeX, for the package booktabs."""
        return report.latex_table(self.describe())

    def to_markdown(self) -> str:
        """Return the answer and its table in Markdown."""
        return report.markdown_table(self.describe())

    def _repr_html_(self) -> str:
        return str(report.fragment(self.describe()))

    def __str__(self) -> str:
        return self.summary()

    def __dir__(self) -> list[str]:
        # What the parts of an answer were made of is for programs, not for completion.
        return [name for name in super().__dir__() if name not in _MADE_OF]

    def _described(
        self,
        alpha: float,
        asked: str,
        said: Sequence[str],
        table: Table,
        *,
        numbers: Sequence[Value] = (),
        pictures: Sequence[Picture] = (),
        sections: Sequence[Section] = (),
        notes: Sequence[str] = (),
        facts: Sequence[Value] = (),
        references: Sequence[str] = (),
    ) -> Description:
        """Return the description, with what all answers add.

        Parameters
        ----------
        alpha : float
        asked : str
            The question up to its covariates, measure and rows.
        said : sequence of str
            The sentence, and what must stand beside it.
        table : Table
        numbers, pictures, sections, notes, facts, references : sequence
            The answer's own; notes come before and facts before those that all answers have.
        """
        how, measure = self.provenance, MEASURE_NAMES[self.measure]
        rows = f", among {how.scope}" if how.scope else ""
        dropped = sentences.left_out(how.n_dropped)
        own = () if self.measure == "hsic" else (self.measure,)
        return Description(
            kind=type(self).__name__.lower(),
            question=f"{asked}{self._given()}, by {measure}{rows}?",
            sentence=" ".join(filter(None, [*said, dropped])),
            alpha=alpha,
            numbers=(*numbers, Value("", "Observations", f"{self.n_observations:,}")),
            table=table,
            cautions=self.warnings,
            pictures=tuple(pictures),
            sections=tuple(sections),
            notes=(*notes, *self._notes(table)),
            facts=(*facts, *self._facts()),
            kernels=how.kernels,
            measure=self.measure,
            references=("test", "hsic", *own, *references),
            call=how.call,
        )

    def _notes(self, table: Table) -> list[str]:
        """Return how the numbers were computed, in sentences."""
        how, held = self.provenance, self.provenance.conditioning
        fitted = [kernel["kernel"] for kernel in how.kernels.values()]
        kernels = "; ".join(f"{name}: {one}" for name, one in zip(how.kernels, fitted, strict=True))
        if len(set(fitted)) > MOST_KERNELS:
            kernels = listed(list(dict.fromkeys(fitted)), 3)
        explained = "" if held is None else _as_sentence(held.shares_in_words())
        n = counted(self.n_observations, "observation")
        rows = f"{n}{self._left_out()}; variance: {how.variance}{self._dependent_rows()}."
        outside = OUTSIDE if _has_estimates_outside(table, self.measure) else ""
        said = (explained, rows, outside, f"Kernels: {kernels}.", *how.notes)
        return [note for note in said if note]

    def _facts(self) -> list[Value]:
        """Return how the numbers were computed, by name: for people, for programs, or both."""
        how, held, n = self.provenance, self.provenance.conditioning, self.n_observations
        given = []
        if held is not None:
            given = [Value("given", "Given", held.facts(), lambda _: held.shares_in_words())]
        return [
            *given,
            Value("scope", "Rows", how.scope),
            Value("notes", "Data", how.notes, " ".join),
            Value("", "Measure", MEASURE_NAMES[how.measure]),
            Value("variance", "Variance", how.variance),
            Value("", "Observations", f"{n:,}{self._left_out()}{self._dependent_rows()}"),
            Value("n_observations", "", n),
            Value("n_dropped", "", how.n_dropped),
            Value("n_clusters", "", how.dependence.n_clusters),
            Value("max_lag", "", how.dependence.max_lag),
            Value("engine", "Engine", how.engine),
            Value("seed", "Random seed", how.seed),
        ]

    def _left_out(self) -> str:
        n = self.provenance.n_dropped
        return f" ({n:,} incomplete left out)" if n else ""

    def _dependent_rows(self) -> str:
        """Return which rows may depend on each other, as the end of a sentence."""
        words = self.provenance.dependence.in_words()
        return f", {words}" if words else ""

    def _given(self) -> str:
        """Return which covariates were held fixed, as the end of a clause."""
        held = self.provenance.conditioning
        return "" if held is None else f" given {held.in_words()}"

    def _setting(self, alpha: float) -> sentences.Setting:
        """Return what all sentences say: measure, level, covariates and rows."""
        scope = self.provenance.scope
        return sentences.Setting(MEASURE_NAMES[self.measure], alpha, self._given(), scope)

    def _unlike(self, targets: Sequence[str]) -> list[str]:
        """Return a note if targets differ in kind or number of columns."""
        fitted = [self.provenance.kernels.get(name, {}) for name in targets]
        kinds = {one.get("kernel", "").partition("(")[0] for one in fitted}
        widths = {one.get("columns") for one in fitted}
        if self.measure == "hsic" or (len(kinds) == 1 and len(widths) == 1):
            return []
        differ = "kind" if len(kinds) > 1 else "number of columns"
        return [
            f"The targets differ in {differ}: {MEASURE_NAMES[self.measure]} compares shares of "
            "kernel variation, not amounts of information."
        ]

    def _alpha(self, alpha: float | None) -> float:
        """Check a level, or return that of the answer, without the rounding of 1 - 0.95."""
        own = round(1.0 - self._level(None), 12)
        return own if alpha is None else check_level("alpha", alpha)

    def _level(self, confidence_level: float | None) -> float:
        """Check a confidence level, or return that of the answer."""
        if confidence_level is None:
            return float(getattr(self, "confidence_level", 0.95))
        return check_level("confidence_level", confidence_level)

    def _frame(self, columns: Columns) -> Any:
        return make_frame(columns, self.provenance.library)

    def _scales(self, pairs: Sequence[Pair]) -> list[Scale]:
        """Return the curve from dependences to correlations for every pair."""
        how = self.provenance
        return [scale_of(pair, how.measure, how.kernels) for pair in pairs]

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
        """Return how strong dependences are that are shown to exist, to end a sentence."""
        if self.measure == "hsic" or not pairs:
            return ""
        return f", {strength_text(values, self._scales(pairs))}"

    def _strength_at(self, row: int, pair: Pair, columns: Columns) -> str:
        """Return how strong the dependence in a row of the table is; nothing if not shown."""
        found = columns.get("as_correlation")
        if found is None or found[row] is None:
            return ""
        values = columns[self.measure] if self.measure in columns else columns["estimate"]
        return self._strength([pair], [values[row]])

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
        picture = Picture(
            draw,
            f"{measure} with intervals on a ruler of correlations.",
            f"How strong is that? Below, {measure}; above, the correlation at which two "
            "bell-shaped variables have it. No sign is implied. Hollow dots are not shown to be "
            "related.",
        )
        return (picture,)


# Fields that hold what other rooms need of an answer.
_MADE_OF = frozenset(
    {"provenance", "dependences", "weights", "tested", "relation_pvalues", "comparisons"}
    | {"standing", "target_maxima", "maxima", "differences_found", "overall", "tests", "across"}
)


def _has_estimates_outside(table: Table, measure: str) -> bool:
    """Return whether an estimate lies outside its own interval."""
    columns = {column.name: column.values for column in table.columns}
    values = columns.get(measure, columns.get("estimate"))
    if values is None or "low" not in columns:
        return False
    limits = zip(values, columns["low"], columns["high"], strict=True)
    return any(not low <= value <= high for value, low, high in limits)


def _as_sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}." if words.startswith("the ") else f"{words}."
