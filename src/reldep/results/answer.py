"""What the answers to all questions share: how they were computed, and how they are shown."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from os import PathLike
from typing import Any, ClassVar

import numpy as np

from reldep import report
from reldep.arguments import check_level
from reldep.data.frames import make_frame
from reldep.data.variables import Rows
from reldep.description import Columns, Description, Picture, Section, Table, Value, unseen
from reldep.engine.covariates import Conditioning
from reldep.exceptions import ReldepWarning
from reldep.io import write
from reldep.results.sentences import Setting
from reldep.stats.series import RowDependence
from reldep.words import MEASURE_NAMES, counted


@dataclass(frozen=True, eq=False)
class Provenance:
    """How a result was computed: what is needed to understand and to repeat it.

    Attributes
    ----------
    measure : {"hsic", "cka", "dcor"}
    variance : str
        How the variance was estimated.
    kernels : mapping of str to dict
        The fitted kernel of every variable, with its parameters.
    engine : str
        The engine that computed the conditional means.
    rows : Rows
        The observations used: their positions in the input and their names.
    dependence : RowDependence
        Which rows may depend on each other.
    n_dropped : int
        Incomplete observations left out.
    library : str or None
        The data frame library of `to_frame`.
    seed : str
        The random seed, where there are random steps.
    call : str
        The Python call that repeats the result.
    conditioning : Conditioning or None
        The covariates that were held fixed, and what share of every variable they explain.
    scope : str or None
        The rows that a condition chose, such as "the 260 of 700 rows with sex = 'f'"; None for
        all rows.
    notes : tuple of str
        How the data were read, where that is not plain.
    remarks : tuple of str
        What the engine did that a reader must know, such as blocks in place of all pairs.
    """

    measure: str
    variance: str
    kernels: Mapping[str, Mapping[str, Any]]
    engine: str
    rows: Rows
    dependence: RowDependence
    n_dropped: int = 0
    library: str | None = None
    seed: str = ""
    call: str = ""
    conditioning: Conditioning | None = None
    scope: str | None = None
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Answer(ABC):
    """What every answer has.

    A kind of answer defines its columns, question, claim, caption and pictures, from which
    `describe` makes all parts. Pages, terminals, data frames and pictures get these and know no
    answer by name. Fields with ``repr=False`` are what an answer is made from: for programs, not
    listed by `dir`.

    Attributes
    ----------
    provenance : Provenance
        How the answer was computed.
    warnings : tuple of ReldepWarning
        Cautions; each was also raised as a Python warning.
    """

    # What `repr` shows, the heading of estimates other than the measure, further references, and
    # the heading as a section of another report.
    _shown: ClassVar[tuple[str, ...]] = ()
    _estimates_are: ClassVar[str] = ""
    _references: ClassVar[tuple[str, ...]] = ()
    _title: ClassVar[str] = ""

    provenance: Provenance = field(repr=False)
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
        facts = (*self._own_facts(), *self._facts())
        return {one.name: one.value for one in facts if one.name}

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
        how, measure = self.provenance, MEASURE_NAMES[self.measure]
        held = how.conditioning
        given = "" if held is None else f" given {held.in_words()}"
        at = Setting(measure, alpha, given, how.scope, self._columns(alpha))
        said, numbers = self._answered(at)
        law, _, _ = self._law().partition("(")
        headings = {"estimate": self._estimates_are or measure, "statistic": law}
        asked, rows = self._asked(), f", among {how.scope}" if how.scope else ""
        # A weighted sum names the measure already.
        by = "" if f"{measure}(" in asked else f", by {measure}"
        own = () if self.measure == "hsic" else (self.measure,)
        return Description(
            kind=type(self).__name__.lower(),
            question=f"{asked}{given}{by}{rows}?",
            claim=" ".join(filter(None, said)),
            remarks=(*left_out(how.n_dropped), *how.remarks),
            alpha=alpha,
            numbers=(*numbers, Value("", "Observations", f"{self.n_observations:,}")),
            table=Table.of(at.columns, self._caption(at), headings, **self._cut()),
            cautions=self.warnings,
            pictures=tuple(self._pictures(at)),
            sections=tuple(self._sections(at)),
            notes=(*self._notes(), *outside_intervals(at.columns), *how.notes),
            facts=(*self._own_facts(), *self._facts()),
            kernels=how.kernels,
            measure=self.measure,
            references=("test", "hsic", *own, *self._references),
            call=how.call,
            title=self._title,
        )

    @abstractmethod
    def _columns(self, alpha: float) -> Columns:
        """Return the columns of the table, unrounded; intervals are at 1 - alpha."""

    @abstractmethod
    def _asked(self) -> str:
        """Return the question up to its covariates, measure and rows."""

    @abstractmethod
    def _answered(self, at: Setting) -> tuple[Sequence[str], Sequence[Value]]:
        """Return the sentences of the claim, empty ones left out, and the key numbers."""

    @abstractmethod
    def _caption(self, at: Setting) -> str:
        """Return what the table shows."""

    @abstractmethod
    def _pictures(self, at: Setting) -> Sequence[Picture]:
        """Return the pictures, the natural one first."""

    def _law(self) -> str:
        """Return the name of the statistic, with its degrees of freedom if it has them."""
        return "t"

    def _cut(self) -> dict[str, Any]:
        """Return the order and the words of a table that pages cut; see :class:`Table`."""
        return {}

    def _sections(self, at: Setting) -> Sequence[Section]:  # noqa: ARG002
        """Return further parts of a report."""
        return ()

    def _notes(self) -> Sequence[str]:
        """Return how to read the numbers, in sentences."""
        return ()

    def _own_facts(self) -> Sequence[Value]:
        """Return how the numbers of this kind of answer were computed."""
        return ()

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
        sensitivity: Answer | None = None,
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
        overwrite : bool, default False
            Whether to replace a file that reldep did not make.

        Returns
        -------
        str or None
            None where the file was written.
        """
        parts = self.describe(alpha)
        if sensitivity is not None:
            parts = parts.beside(sensitivity.describe(parts.alpha))
        document = report.page(parts)
        if path is None:
            return document
        write(path, document, overwrite=overwrite)
        return None

    def _repr_html_(self) -> str:
        return str(report.fragment(self.describe()))

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        words = [
            f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value!r}"
            for name in (*self._shown, "n_observations")
            for value in [getattr(self, name)]
        ]
        return f"{type(self).__name__}({', '.join(words)})"

    def __dir__(self) -> list[str]:
        hidden = {one.name for one in fields(self) if not one.repr}
        return [name for name in super().__dir__() if name not in hidden]

    def _facts(self) -> list[Value]:
        """Return how the numbers were computed, by name: for people, for programs, or both."""
        how, held, n = self.provenance, self.provenance.conditioning, self.n_observations
        rows = how.dependence.in_words()
        dropped = f" ({how.n_dropped:,} incomplete left out)" if how.n_dropped else ""
        given = []
        if held is not None:
            given = [Value("given", "Given", held.facts(), lambda _: held.shares_in_words())]
        return [
            *given,
            Value("scope", "Rows", how.scope),
            Value("", "Observations", f"{n:,}{dropped}{f', {rows}' if rows else ''}"),
            Value("", "Measure", MEASURE_NAMES[how.measure]),
            Value("variance", "Variance", how.variance),
            Value("engine", "Engine", how.engine),
            Value("seed", "Random seed", how.seed),
            *unseen(
                n_observations=n,
                n_dropped=how.n_dropped,
                n_clusters=how.dependence.n_clusters,
                max_lag=how.dependence.max_lag,
            ),
        ]

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

    def _possible(self, limits: Any, least: float = -1.0, most: float = 1.0) -> Any:
        """Return limits within what a measure can be: normalised dependences differ by up to 1."""
        return limits if self.measure == "hsic" else np.clip(limits, least, most)


def columns_of(tests: Any, limits: Sequence[Any] = ()) -> Columns:
    """Return the columns of many tests, with the limits of intervals, and of bands, if any."""
    named = dict(zip(("low", "high", "band_low", "band_high"), limits, strict=False))
    found = {"estimate": tests.estimate, "standard_error": tests.standard_error, **named}
    found["statistic"] = tests.statistic
    return {name: column.tolist() for name, column in found.items()}


def left_out(n_dropped: int) -> list[str]:
    """Return how many incomplete rows were left out, as a sentence; nothing for none.

    Examples
    --------
    >>> left_out(1), left_out(3), left_out(0)
    (['1 incomplete row was left out.'], ['3 incomplete rows were left out.'], [])
    """
    verb = "was" if n_dropped == 1 else "were"
    return [f"{counted(n_dropped, 'incomplete row')} {verb} left out."] if n_dropped else []


def outside_intervals(columns: Columns) -> list[str]:
    """Return the explanation of estimates outside their own intervals, if there are any."""
    if not {"estimate", "low", "high"} <= columns.keys():
        return []
    limits = zip(*(columns[name] for name in ("low", "estimate", "high")), strict=True)
    if all(low <= value <= high for low, value, high in limits):
        return []
    return [
        "Estimates are unbiased, so they may lie below 0 where there is no relation; intervals "
        "contain possible values only."
    ]
