"""The road that all questions share: variables and options to kernels, A, estimates, cautions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from reldep.checks import Data, Tested, cautions_about
from reldep.checks.answers import check_source_outside
from reldep.checks.rows import ranks_of
from reldep.checks.subjects import MOST_ROWS
from reldep.data.dataset import AlignedData, read_clusterings, read_dataset
from reldep.data.variables import FloatArray, IntArray, Rows
from reldep.engine import Influence, Pair, Plan, compute_influence, make_plan
from reldep.engine.blocks import check_units
from reldep.engine.choose import SIZES
from reldep.engine.covariates import Regression
from reldep.exceptions import InputError, ReldepWarning
from reldep.kernels.base import FittedKernel
from reldep.kernels.choosing import as_kernel, assign
from reldep.kernels.custom import Precomputed
from reldep.questions.ask import DEFAULTS, complete, name_variables
from reldep.questions.clustered import dependent_estimates
from reldep.questions.covariates import covariates_beside, hold_fixed
from reldep.questions.options import check_lag, generator
from reldep.questions.stored import StoredRows
from reldep.results.answer import Provenance
from reldep.results.strength import Estimated
from reldep.stats.estimates import Estimates, estimate_dependences
from reldep.stats.pairwise import Test
from reldep.stats.series import Memory, RowDependence
from reldep.stats.units import FEW_OBSERVATIONS, NORMALISED, pairs_beside, pairs_needed

A = TypeVar("A", bound=Estimated)


@dataclass(frozen=True, eq=False, kw_only=True)
class Study(Data):
    """Variables with their kernels and the options of a question.

    Attributes
    ----------
    options : mapping of str to object
        All shared options.
    fits : mapping of str to FittedKernel, optional
        Kernels that are fitted already.
    regression : Regression, optional
        How covariates were held fixed.
    before : Study, optional
        The data as they were read, if covariates are held fixed.
    factor : float
        By what all bandwidths are multiplied.
    """

    options: Mapping[str, Any]
    fits: Mapping[str, FittedKernel] | None = None
    regression: Regression | None = None
    before: Study | None = None
    factor: float = 1.0

    @property
    def names(self) -> list[str]:
        """The variables, in the order of the arguments."""
        return list(self.kernels)

    @property
    def measure(self) -> str:
        """The measure of dependence."""
        return str(self.options["measure"])

    @property
    def stored(self) -> StoredRows | None:
        """All rows, where the data are a random part of them."""
        return self.options.get("stored")

    @cached_property
    def fitted(self) -> Mapping[str, FittedKernel]:
        """The kernels with their data; fitted when first needed, then kept."""
        if self.fits is not None:
            return self.fits
        found = {}
        # A normalised measure does not see the unit of a kernel.
        own_units = self.measure in NORMALISED
        for name, kernel in self.kernels.items():
            fitted = kernel.fit(self.dataset.variables[name])
            found[name] = fitted.in_own_unit() if own_units else fitted
        return found

    @cached_property
    def dependence(self) -> RowDependence:
        """Which rows may depend on each other; clusters of one row each are independent rows."""
        if self.stored is not None:
            return self.stored.rows
        own = self.dataset
        return RowDependence.of(own.clusters, own.second_clusters, self.options["max_lag"], self.n)

    @property
    def units_of_blocks(self) -> dict[str, Any] | None:
        """Which rows blocks must keep together; None where blocks have no standard errors."""
        rows = self.dependence
        if rows.second_clusters is not None or self.options["variance"] == "fixed-kernel":
            return None
        found = {"clusters": rows.clusters, "max_lag": rows.max_lag}
        return {name: value for name, value in found.items() if value is not None}

    def influence(self, pairs: Sequence[Pair], means: Sequence[Pair] | None = None) -> Influence:
        """Compute A for these pairs.

        Parameters
        ----------
        pairs : sequence of Pair
        means : sequence of Pair, optional
            Further pairs of which the HSIC alone is needed; by default those for the variance
            and the screens.
        """
        beside = self.means_beside(pairs) if means is None else means
        if self.stored is not None:
            computed, rows = self.stored.influence(self, pairs, beside), None
        else:
            rows = self.dataset.rows
            computed = compute_influence(
                self.fitted,
                pairs,
                self.options["engine"],
                bandwidths=self.options["variance"] == "jackknife",
                means=beside,
                dependence=self.units_of_blocks,
            )
        return replace(
            computed,
            kernels=computed.kernels or {n: kernel.describe() for n, kernel in self.fitted.items()},
            rows=rows,
            library=self.dataset.library,
            conditioning=self.conditioning,
        )

    @property
    def needed(self) -> tuple[Pair, ...]:
        """The pairs of which A is needed.

        Those of the measure and, unless there are many rows, those that show whether CKA agrees
        with raw HSIC.
        """
        is_small = self.n <= FEW_OBSERVATIONS
        return pairs_needed(self.pairs, "cka" if is_small else self.measure)

    def compute(self, needed: Sequence[Pair] | None = None) -> Computed:
        """Compute A of the pairs that are needed, and estimate the dependences asked about."""
        influence = self.influence(self.needed if needed is None else needed)
        return Computed(self, influence, self.estimates(influence))

    def estimates(self, influence: Influence) -> Estimates:
        """Estimate the dependences that are asked about from A."""
        rows, table = self.dependence, influence.blocks
        if rows.max_lag is not None:
            ranks = ranks_of(self) if self.stored is None else self.stored.ranks(self)
            rows = replace(rows, memory=Memory.of(ranks, self.pairs, influence.n_observations))
        if rows.any and table is None:
            found = dependent_estimates(self, influence, rows)
        else:
            sizes = None if table is None else table.unit_sizes
            if rows.any and sizes is None:
                raise InputError(
                    "the Influence was computed in blocks of independent rows; pass the data."
                )
            if sizes is not None and rows.max_lag is not None:
                rows = replace(rows, n_blocks=len(sizes))
            variance = self.options["variance"]
            found = estimate_dependences(influence, self.pairs, self.measure, variance, rows)
        if not np.isfinite(found.values).all():
            raise InputError(
                "the dependences are too large or too small to be numbers; rescale the data."
            )
        return found

    def provenance(self, n: int, **known: Any) -> Provenance:
        """Return where an answer about n rows comes from; `known` are further attributes."""
        dataset, stored = self.dataset, self.stored
        own = {
            "measure": self.measure,
            "variance": self.options["variance"],
            "rows": dataset.rows if stored is None else Rows.of(n),
            "n_dropped": dataset.n_dropped if stored is None else stored.n_rows - n,
            "library": dataset.library,
            "conditioning": self.conditioning,
            "notes": dataset.notes,
        }
        return Provenance(**own, **known)

    def plan(self) -> Plan:
        """Return how A would be computed, without computing it."""
        needed = pairs_needed(self.pairs, self.measure)
        return make_plan(
            self.fitted,
            needed,
            self.means_beside(needed),
            self.options["engine"],
            dependence=self.units_of_blocks,
        )

    def scaled(self, factor: float) -> Study:
        """Multiply all bandwidths."""
        fits = {name: kernel.scaled(factor) for name, kernel in self.fitted.items()}
        return replace(self, fits=fits, factor=factor)

    def part(self, rows: IntArray, names: Mapping[str, str] | None = None) -> Study:
        """Keep some rows and variables, under new names; the kernels are fitted again."""
        dataset = self.dataset
        kept = {name: name for name in self.kernels} if names is None else names
        variables = {new: dataset.variables[old] for old, new in kept.items()}
        part = replace(dataset, variables=variables).take(rows)
        kernels = {new: self.kernels[old].take(rows) for old, new in kept.items()}
        pairs = tuple((kept[x], kept[y]) for x, y in self.pairs if x in kept and y in kept)
        return Study(
            dataset=part,
            kernels=kernels,
            pairs=pairs,
            options=self.options,
            conditioning=self.conditioning,
            takes_clusters=self.takes_clusters,
        )

    def means_beside(self, pairs: Sequence[Pair]) -> tuple[Pair, ...]:
        """Return the pairs whose HSIC the variance and the screens need besides A."""
        variance = self.options["variance"]
        return () if variance is None else pairs_beside(pairs, self.n, variance)


@dataclass(frozen=True, eq=False)
class Computed(Tested):
    """A, and the dependences that are estimated from it."""

    data: Study

    @cached_property
    def provenance(self) -> Provenance:
        """Where the dependences come from."""
        found, table = self.influence, self.influence.blocks
        return self.data.provenance(
            kernels=found.kernels,
            engine=found.engine,
            n=found.n_observations,
            dependence=self.found.rows,
            remarks=found.notes if table is None else (table.note(self.found.loss()),),
        )

    @cached_property
    def cautions(self) -> tuple[ReldepWarning, ...]:
        """What to beware of in the data, as they were read."""
        return (*cautions_about(self.data.before or self.data), *self.influence.cautions)

    def tested(self, weights: FloatArray, where: str = "") -> Computed:
        """Return what is tested, for the checks: `weights` has one row per test."""
        return replace(self, weights=np.atleast_2d(weights), where=where)

    def without(self, left_out: IntArray) -> Test | None:
        """Test without some rows, bandwidths chosen anew; None for dependent or many rows."""
        study = self.data
        if study.stored or study.dependence.any or not study.kernels or study.n > MOST_ROWS:
            return None
        part = study.part(np.delete(np.arange(study.n), left_out))
        try:
            influence = part.influence(pairs_needed(study.pairs, study.measure))
            return part.estimates(influence).test(self.weights[0])
        except InputError:
            return None  # Too little varies in the rows that are left.

    def answer(self, kind: type[A], tests: FloatArray, **own: Any) -> A:
        """Return an answer, with cautions about the data and about tests: a row of weights each."""
        return kind(
            provenance=self.provenance,
            warnings=(*self.cautions, *cautions_about(self.tested(tests))),
            dependences=self.found,
            influence=self.influence,
            **own,
        )


def read_study(
    single: Mapping[str, Any],
    options: Mapping[str, Any],
    *,
    many: Mapping[str, Mapping[str, Any]] | None = None,
    pairs: Sequence[Pair] | None = None,
    among: Sequence[str] | None = None,
) -> Study:
    """Read the variables of a question and give each its name and its kernel.

    Parameters
    ----------
    single : mapping of str to data
        By argument, of one variable each; `source` must not be part of the other variables.
    options : mapping of str to object
        Options of the question; those that it does not have are at their defaults.
    many : mapping of str to mapping of str to data, optional
        By argument, of several variables with their names.
    pairs : sequence of Pair, optional
        The dependences that are asked about; by default of the first variable with each other one.
    among : sequence of str, optional
        All variables that the user passed, where these are only some of them.
    """
    takes_clusters, options, many = "clusters" in options, complete(options), many or {}
    blocks = name_variables(single, many, options.get("names"))
    names, given = list(blocks), options["given"]
    roles = [*single]
    for role, each in many.items():
        roles += [role] * len(each)
    specs = assign(
        options["kernel"],
        names,
        roles=roles if single else None,
        among=among,
        measure=options["measure"],
    )
    matrices = {name: data for name, data in blocks.items() if isinstance(data, Precomputed)}
    specs |= matrices
    rows_of = {name: np.arange(len(matrix)) for name, matrix in matrices.items()}
    held = {} if given is None else covariates_beside(given, names)
    dataset = read_dataset(
        {**blocks, **rows_of, **held},
        missing=options["missing"],
        clusters=options["clusters"],
        by=options.get("by"),
        ids=options.get("ids"),
    )
    if options["max_lag"] is not None:
        check_lag(options["max_lag"], len(dataset), dataset.rows.time)
    variables = dict(dataset.variables)
    covariates = [variables.pop(name) for name in held]
    kernels = {name: as_kernel(specs[name], variable) for name, variable in variables.items()}
    if dataset.kept is not None:
        kernels = {name: kernel.take(dataset.kept) for name, kernel in kernels.items()}
    study = Study(
        dataset=replace(dataset, variables=variables),
        kernels=kernels,
        pairs=tuple([(names[0], name) for name in names[1:]] if pairs is None else pairs),
        source=names[0] if "source" in single else None,
        takes_clusters=takes_clusters,
        automatic=frozenset(
            [name for name, spec in specs.items() if isinstance(spec, str) and spec == "auto"]
        ),
        options=options,
    )
    check_source_outside(study)
    for one in covariates:
        study = hold_fixed(study, one, given)
    return in_reach(study)


def in_reach(study: Study, most: int = SIZES.dense_rows) -> Study:
    """Keep `most` rows of few large clusters, so that tuples within clusters can be left out.

    Blocks of rows leave them out where there are clusters enough. The loss is small: most of what
    varies, varies between such clusters, which have the same weight each.
    """
    rows, n = study.dependence, study.n
    engine = getattr(study.options["engine"], "name", study.options["engine"])
    is_crossed, codes = rows.second_clusters is not None, rows.clusters
    if study.stored or not rows.any or is_crossed or n <= most or engine == "blocks":
        return study
    try:
        check_units(n, codes, rows.max_lag)
    except InputError:
        if codes is None:
            words = f"`max_lag={rows.max_lag}` is too long for {n:,} rows"
            raise InputError(f"{words}; pass a smaller one, or `max_lag='auto'`.") from None
    else:
        if engine == "auto":
            return study
        option = "clusters" if codes is not None else "max_lag"
        raise InputError(
            f"beyond {most:,} rows `{option}` needs `engine='blocks'`, not {engine!r}."
        )
    order = generator(study.options).permutation(n)
    order = order[np.argsort(codes[order], kind="stable")]
    # The place of every row in its cluster: the first ones of each are kept.
    place = np.arange(n) - np.searchsorted(codes[order], codes[order])
    chosen = np.sort(order[place < np.partition(place, most)[most]])
    part, notes = study.part(chosen), study.dataset.notes
    said = f"Of large clusters random rows were used: {len(chosen):,} of {n:,} rows in all."
    dataset = replace(part.dataset, notes=(*notes, said))
    return replace(part, dataset=dataset, before=study.before or study, source=study.source)


def reuse_influence(
    influence: Influence, pairs: Sequence[Pair], options: Mapping[str, Any]
) -> Computed:
    """Estimate dependences from an A that is there, after checking that it has what is needed."""
    options = complete(options)
    for name in ("kernel", "missing", "engine", "given"):
        value, default = options[name], DEFAULTS[name]
        if value is not default and not (isinstance(value, str) and value == default):
            raise InputError(
                f"`{name}` was decided when the Influence was computed; pass the data in its place."
            )
    if options["max_lag"] is not None:
        raise InputError(
            "`max_lag` needs variables, which show how slowly they move; pass these, not A."
        )
    if options["measure"] == "dcor":
        # Given covariates, the kernel of labels is linear in the residuals of their indicators.
        metric = ("Distance", "Delta", "Precomputed", *["Linear"] * bool(influence.conditioning))
        for name, known_as in influence.kernels.items():
            if any(name in pair for pair in pairs) and not known_as["kernel"].startswith(metric):
                raise InputError(
                    f"the Influence was computed with {known_as['kernel']} for {name}, and "
                    "`measure='dcor'` is defined by distances; compute it with `kernel='distance'`."
                )
    known = set(map(frozenset, influence.pairs))
    needed = pairs_needed(pairs, options["measure"])
    absent = [repr(pair) for pair in needed if frozenset(pair) not in known]
    if absent:
        raise InputError(
            f"the Influence has no conditional means of {', '.join(absent)}; add them to its "
            "pairs (normalised measures need the self-pairs too)."
        )
    n = influence.n_observations
    clusterings = read_clusterings(options["clusters"], n)
    rows, library = influence.observations(), influence.library
    dataset = AlignedData({}, rows, clusterings=clusterings, library=library)
    study = Study(
        dataset=dataset,
        pairs=tuple(pairs),
        conditioning=influence.conditioning,
        options=options,
        fits={},
    )
    return Computed(study, influence, study.estimates(influence))
