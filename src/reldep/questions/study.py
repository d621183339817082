"""The road that all questions share: variables and options to kernels, A, estimates, cautions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.checks import Data, Tested, cautions_about
from reldep.checks.copies import check_source_outside
from reldep.data.dataset import AlignedData, read_clusterings, read_dataset
from reldep.data.rows import Rows
from reldep.engine import Blocks, Influence, Pair, Plan, compute_influence, make_plan
from reldep.exceptions import InputError
from reldep.kernels.choosing import as_kernel, assign
from reldep.kernels.custom import Precomputed
from reldep.questions.clustered import dependent_estimates
from reldep.questions.covariates import covariates_beside, hold_fixed
from reldep.questions.options import DEFAULTS, check_lag, complete
from reldep.questions.variables import name_variables
from reldep.results.answer import Provenance
from reldep.stats.estimates import estimate_dependences
from reldep.stats.series import Memory, RowDependence
from reldep.stats.units import FEW_OBSERVATIONS, NORMALISED, pairs_beside, pairs_needed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.covariates import Conditioning, Regression
    from reldep.exceptions import ReldepWarning
    from reldep.kernels.base import FittedKernel, Kernel
    from reldep.questions.stored import StoredRows
    from reldep.stats.estimates import Estimates

# Options without effect once A is computed.
DECIDED = ("kernel", "missing", "engine")


@dataclass(frozen=True, eq=False)
class Computed:
    """A and the dependences estimated from it, where they come from and what to beware of.

    Attributes
    ----------
    influence : Influence
    dependences : Estimates
        Of the pairs asked about.
    provenance : Provenance
    cautions : tuple of ReldepWarning
        About the data.
    data : Data
        What they were computed from, for the checks.
    """

    influence: Influence
    dependences: Estimates
    provenance: Provenance
    cautions: tuple[ReldepWarning, ...]
    data: Data

    def tested(
        self, weights: FloatArray, *, is_difference: bool = False, where: str = ""
    ) -> Tested:
        """Return what is tested, for the checks: `weights` has one row per test."""
        return Tested(
            data=self.data,
            found=self.dependences,
            weights=np.atleast_2d(weights),
            influence=self.influence,
            is_difference=is_difference,
            where=where,
        )

    def warnings(
        self, weights: FloatArray, *, is_difference: bool = False
    ) -> tuple[ReldepWarning, ...]:
        """Return the cautions about the data and about what is tested."""
        about_test = cautions_about(self.tested(weights, is_difference=is_difference))
        return (*self.cautions, *about_test)


@dataclass(frozen=True, eq=False)
class Study:
    """Variables with their kernels and the options of a question.

    Attributes
    ----------
    dataset : AlignedData
    kernels : mapping of str to Kernel
    pairs : tuple of Pair
        The dependences that are asked about.
    options : mapping of str to object
        All shared options.
    fits : mapping of str to FittedKernel, optional
        Kernels that are fitted already.
    automatic : frozenset of str
        The variables whose kernels the user did not choose.
    source : str, optional
        The variable that is compared with all others, if there is one.
    conditioning : Conditioning, optional
        The covariates that are held fixed; the data are what they leave.
    regression : Regression, optional
        How that was found.
    before : Data, optional
        The data as they were read, if covariates are held fixed.
    """

    dataset: AlignedData
    kernels: Mapping[str, Kernel]
    pairs: tuple[Pair, ...]
    options: Mapping[str, Any]
    fits: Mapping[str, FittedKernel] | None = None
    automatic: frozenset[str] = frozenset()
    source: str | None = None
    conditioning: Conditioning | None = None
    regression: Regression | None = None
    before: Data | None = None

    @property
    def names(self) -> list[str]:
        """The variables, in the order of the arguments."""
        return list(self.kernels)

    @property
    def measure(self) -> str:
        """The measure of dependence."""
        return str(self.options["measure"])

    @cached_property
    def fitted(self) -> Mapping[str, FittedKernel]:
        """The kernels with their data; fitted when first needed, then kept."""
        if self.fits is not None:
            return self.fits
        fits = {n: kernel.fit(self.dataset.variables[n]) for n, kernel in self.kernels.items()}
        if self.measure in NORMALISED:
            # The measure does not see the unit of a kernel.
            return {name: fitted.in_own_unit() for name, fitted in fits.items()}
        return fits

    @cached_property
    def data(self) -> Data:
        """What is known of the variables, for the checks; of kernel matrices only the rows."""
        dataset = self.dataset
        both = (dataset.clusters, dataset.second_clusters)
        return Data(
            variables={
                name: variable
                for name, variable in dataset.variables.items()
                if not isinstance(self.kernels[name], Precomputed)
            },
            rows=dataset.rows,
            pairs=self.pairs,
            source=self.source,
            kernels=self.kernels,
            fitted=self.fitted,
            automatic=self.automatic,
            clusters=tuple(codes for codes in both if codes is not None),
            labels=dataset.labels,
            unmatched=dataset.unmatched,
            conditioning=self.conditioning,
        )

    @cached_property
    def rows(self) -> RowDependence:
        """Which rows may depend on each other; clusters of one row each are independent rows."""
        dataset = self.dataset
        lag = self.options["max_lag"]
        return RowDependence.of(dataset.clusters, dataset.second_clusters, lag, len(dataset))

    @property
    def dependence(self) -> dict[str, Any] | None:
        """Which rows depend on each other, for blocks of rows; None for two clusterings."""
        rows = self.rows
        if rows.second_clusters is not None:
            return None
        found = {"clusters": rows.clusters, "max_lag": rows.max_lag}
        return {name: value for name, value in found.items() if value is not None}

    def influence(
        self,
        pairs: Sequence[Pair],
        *,
        means: Sequence[Pair] | None = None,
        with_errors: bool = True,
    ) -> Influence:
        """Compute A for these pairs.

        Parameters
        ----------
        pairs : sequence of Pair
        means : sequence of Pair, optional
            Further pairs of which the HSIC alone is needed; by default those for the variance
            and the screens.
        with_errors : bool, default True
            Whether standard errors are needed, by the variance that was asked for.
        """
        beside = self.means_beside(pairs) if means is None else means
        stored: StoredRows | None = self.options.get("stored")
        if stored is not None:
            variables, missing = self.dataset.variables, self.options["missing"]
            found = stored.influence(self.kernels, variables, pairs, beside, missing)
            rules = {name: fit.describe() for name, fit in self.fitted.items()}
            kernels = {n: {**one, "rule": rules[n].get("rule")} for n, one in found.kernels.items()}
            return replace(found, kernels=kernels, library=self.dataset.library)
        engine, is_jackknife = self.options["engine"], self.options["variance"] == "jackknife"
        bandwidths = with_errors and is_jackknife
        dependence = self.dependence if is_jackknife or not with_errors else None
        if dependence is None and (engine == "blocks" or isinstance(engine, Blocks)):
            raise InputError(
                "`engine='blocks'` has no standard errors with `variance='fixed-kernel'` or two "
                "clusterings; use `engine='tiled'`."
            )
        computed = compute_influence(
            self.fitted,
            pairs,
            engine,
            bandwidths=bandwidths,
            means=beside,
            dependence=dependence,
        )
        return replace(
            computed,
            kernels={name: kernel.describe() for name, kernel in self.fitted.items()},
            rows=self.dataset.rows,
            library=self.dataset.library,
            conditioning=self.conditioning,
        )

    @property
    def needed(self) -> tuple[Pair, ...]:
        """The pairs of which A is needed.

        Those of the measure and, unless there are many rows, those that show whether CKA agrees
        with raw HSIC.
        """
        is_small = len(self.dataset) <= FEW_OBSERVATIONS
        return pairs_needed(self.pairs, "cka" if is_small else self.measure)

    def compute(self, needed: Sequence[Pair] | None = None) -> Computed:
        """Compute A of the pairs that are needed, and estimate the dependences asked about."""
        influence = self.influence(self.needed if needed is None else needed)
        return self.describe(influence, self.estimates(influence))

    def estimates(self, influence: Influence) -> Estimates:
        """Estimate the dependences that are asked about from A."""
        pairs = self.pairs
        if self.rows.any:
            fitted, rows = self.fitted or None, self.rows
            if rows.max_lag is not None:
                columns = {name: one.ranks for name, one in self.data.columns.items()}
                known = {name: ranks for name, ranks in columns.items() if ranks is not None}
                rows = replace(rows, memory=Memory.of(known, pairs))
            found = dependent_estimates(influence, pairs, self.measure, rows, fitted)
        else:
            found = estimate_dependences(influence, pairs, self.measure, self.options["variance"])
        if not np.isfinite(found.values).all():
            raise InputError(
                "the dependences are too large or too small to be numbers; rescale the data, for "
                "instance by their standard deviation."
            )
        return found

    def describe(self, influence: Influence, dependences: Estimates) -> Computed:
        """Note where the dependences come from and what to beware of."""
        dataset, table = self.dataset, influence.blocks
        notes = influence.notes if table is None else (table.note(dependences.loss()),)
        rows, n_dropped, stored = dataset.rows, dataset.n_dropped, self.options.get("stored")
        if stored is not None:
            rows = Rows.of(influence.n_observations)
            n_dropped = stored.n_rows - influence.n_observations
        provenance = Provenance(
            measure=self.measure,
            variance=self.options["variance"],
            kernels=influence.kernels,
            engine=influence.engine,
            rows=rows,
            dependence=dependences.rows,
            n_dropped=n_dropped,
            library=dataset.library,
            conditioning=influence.conditioning,
            notes=dataset.notes,
            remarks=notes,
        )
        read = self.before or self.data
        if read.conditioning is not influence.conditioning:
            read = replace(read, conditioning=influence.conditioning)
        cautions = (*cautions_about(read), *influence.cautions)
        return Computed(influence, dependences, provenance, cautions, self.data)

    def plan(self) -> Plan:
        """Return how A would be computed, without computing it."""
        needed = pairs_needed(self.pairs, self.measure)
        return make_plan(
            self.fitted,
            needed,
            self.means_beside(needed),
            self.options["engine"],
            dependence=self.dependence if self.options["variance"] == "jackknife" else None,
        )

    def part(self, rows: IntArray, names: Mapping[str, str] | None = None) -> Study:
        """Keep some rows and variables, under new names; the kernels are fitted again."""
        dataset = self.dataset
        kept = {name: name for name in self.kernels} if names is None else names
        variables = {new: dataset.variables[old] for old, new in kept.items()}
        part = replace(dataset, variables=variables).take(rows)
        kernels = {new: self.kernels[old].take(rows) for old, new in kept.items()}
        pairs = tuple((kept[x], kept[y]) for x, y in self.pairs if x in kept and y in kept)
        return Study(part, kernels, pairs, self.options, conditioning=self.conditioning)

    def means_beside(self, pairs: Sequence[Pair]) -> tuple[Pair, ...]:
        """Return the pairs whose HSIC the variance and the screens need besides A."""
        return pairs_beside(pairs, len(self.dataset), self.options["variance"])


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
    options, many = complete(options), many or {}
    blocks = name_variables(single, many, options.get("names"))
    names = list(blocks)
    specs = assign(
        options["kernel"],
        names,
        roles=[*single, *(role for role in many for _ in many[role])] if single else None,
        among=among,
        measure=options["measure"],
    )
    matrices = {name: data for name, data in blocks.items() if isinstance(data, Precomputed)}
    specs |= matrices
    rows_of = {name: np.arange(len(matrix)) for name, matrix in matrices.items()}
    held = covariates_beside(options["given"], names)
    dataset = read_dataset(
        {**blocks, **rows_of, **held},
        missing=options["missing"],
        clusters=options["clusters"],
        by=options.get("by"),
        ids=options.get("ids"),
    )
    check_lag(options["max_lag"], len(dataset), dataset.rows.time)
    held = {name: dataset.variables[name] for name in held}
    dataset = replace(dataset, variables={name: dataset.variables[name] for name in names})
    kernels = {
        name: as_kernel(specs[name], variable) for name, variable in dataset.variables.items()
    }
    if dataset.n_dropped:
        kernels = {name: kernel.take(dataset.rows.positions) for name, kernel in kernels.items()}
    study = Study(
        dataset,
        kernels,
        tuple(((names[0], name) for name in names[1:]) if pairs is None else pairs),
        options,
        automatic=frozenset(
            name for name, spec in specs.items() if isinstance(spec, str) and spec == "auto"
        ),
        source=names[0] if "source" in single else None,
    )
    if study.source is not None:
        columns = study.data.columns
        targets = [name for name in names[1:] if name in columns]
        check_source_outside(columns, study.source, targets if study.source in columns else [])
    for covariates in held.values():
        study = hold_fixed(study, covariates, options["given"])
    return study


def reuse_influence(
    influence: Influence, pairs: Sequence[Pair], options: Mapping[str, Any]
) -> Computed:
    """Estimate dependences from an A that is there, after checking that it has what is needed."""
    options = complete(options)
    for name in DECIDED:
        if options[name] is not DEFAULTS[name] and options[name] != DEFAULTS[name]:
            raise InputError(
                f"`{name}={options[name]!r}` was decided when the Influence was computed; pass it "
                "to reldep.influence(), or pass data in place of the Influence."
            )
    if options["given"] is not None:
        raise InputError(
            "`given` cannot be applied to an Influence that is computed already; pass data in "
            "place of the Influence."
        )
    known = set(map(frozenset, influence.pairs))
    needed = pairs_needed(pairs, options["measure"])
    absent = [repr(pair) for pair in needed if frozenset(pair) not in known]
    if absent:
        raise InputError(
            f"the Influence has no conditional means of {', '.join(absent)}; add them to the pairs "
            "of reldep.influence() (normalised measures need the self-pairs too)."
        )
    n = influence.n_observations
    check_lag(options["max_lag"], n)
    first, second = read_clusterings(options["clusters"], n)
    dataset = AlignedData(
        {}, influence.observations(), 0, first, influence.library, second_clusters=second
    )
    study = Study(dataset, {}, tuple(pairs), options, fits={})
    return study.describe(influence, study.estimates(influence))
