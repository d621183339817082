"""The preamble of every question: read the data, give each variable its kernel, compute A."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.checks import Data, Tested, cautions_about
from reldep.checks.copies import check_source_outside
from reldep.data.dataset import AlignedData, read_clusterings, read_dataset
from reldep.data.objects import native_name
from reldep.engine import Blocks, Influence, Pair, Plan, compute_influence, make_plan
from reldep.engine.centred import distinct
from reldep.engine.given.residuals import FeatureResiduals, WholeResiduals
from reldep.exceptions import InputError
from reldep.kernels.choosing import as_kernel, assign
from reldep.kernels.custom import Precomputed
from reldep.questions.clustered import dependent_estimates
from reldep.questions.covariates import (
    check_covariates,
    name_of_covariates,
    split_covariates,
)
from reldep.results.provenance import Provenance
from reldep.stats.estimates import estimate_dependences
from reldep.stats.series import RowDependence
from reldep.stats.units import NORMALISED, pairs_beside, pairs_needed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray, Variable
    from reldep.engine.given.residuals import Residuals
    from reldep.engine.given.unexplained import Covariates
    from reldep.engine.influence import Conditioning
    from reldep.exceptions import ReldepWarning
    from reldep.kernels.base import FittedKernel, Kernel
    from reldep.questions.options import Settings
    from reldep.stats.estimates import Estimates

# What has no effect any more once A is computed, with the default that says "not given".
DECIDED = {"kernel": "auto", "missing": "raise", "engine": "auto"}


@dataclass(frozen=True, eq=False)
class Computed:
    """A and the dependences estimated from it, where they come from and what to beware of.

    Attributes
    ----------
    influence : Influence
    dependences : Estimates
        Of the pairs asked about, estimated once.
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

    def tested(self, weights: FloatArray, *, is_difference: bool = False) -> Tested:
        """Return what is tested, for the checks: `weights` has one row per test."""
        return Tested(
            data=self.data,
            found=self.dependences,
            weights=np.atleast_2d(weights),
            influence=self.influence,
            is_difference=is_difference,
        )


@dataclass(frozen=True, eq=False)
class Study:
    """Data with the kernels chosen for them, ready for an engine.

    `automatic` has the names of the variables whose kernels the user did not choose, `source` the
    variable that is compared with all others, if there is one.
    """

    dataset: AlignedData
    kernels: Mapping[str, Kernel]
    settings: Settings
    fits: Mapping[str, FittedKernel] | None = None
    covariates: Covariates | None = None
    automatic: frozenset[str] = frozenset()
    source: str | None = None

    @cached_property
    def fitted(self) -> Mapping[str, FittedKernel]:
        """The kernels with their data; fitted when first needed, then kept."""
        if self.fits is not None:
            return self.fits
        # Each has a generator of its own, so that the order of the variables changes no number.
        return {
            name: self.in_unit(kernel.fit(self.dataset.variables[name]))
            for name, kernel in self.kernels.items()
        }

    def in_unit(self, fitted: FittedKernel) -> FittedKernel:
        """Give a kernel in a unit of its own where the measure does not see the unit."""
        return fitted.in_own_unit() if self.settings.measure in NORMALISED else fitted

    @cached_property
    def residuals(self) -> Residuals[Any] | None:
        """What the covariates leave of every variable; None without covariates."""
        if self.covariates is None:
            return None
        kind = WholeResiduals if self.covariates.whole else FeatureResiduals
        return kind.of(self.fitted, self.covariates, self.values())

    def values(self) -> dict[str, Variable]:
        """Leave out kernel matrices that were passed in: of them only row numbers are known."""
        return {
            name: variable
            for name, variable in self.dataset.variables.items()
            if not isinstance(self.kernels[name], Precomputed)
        }

    def subject(self, pairs: Sequence[Pair], conditioning: Conditioning | None = None) -> Data:
        """Return the data of some pairs, for the checks."""
        dataset = self.dataset
        both = (dataset.clusters, dataset.second_clusters)
        return Data(
            variables=self.values(),
            rows=dataset.rows,
            pairs=pairs,
            source=self.source,
            kernels=self.kernels,
            fitted=self.fitted,
            automatic=self.automatic,
            clusters=tuple(codes for codes in both if codes is not None),
            max_lag=self.settings.max_lag,
            labels=dataset.labels,
            unmatched=dataset.unmatched,
            conditioning=conditioning,
        )

    @cached_property
    def rows(self) -> RowDependence:
        """Which rows may depend on each other; clusters of one row each are independent rows."""
        dataset = self.dataset
        return RowDependence.of(
            dataset.clusters, dataset.second_clusters, self.settings.max_lag, len(dataset)
        )

    def influence(self, pairs: Sequence[Pair], *, means: Sequence[Pair] | None = None) -> Influence:
        """Compute A for these pairs.

        Parameters
        ----------
        pairs : sequence of Pair
        means : sequence of Pair, optional
            Further pairs of which the HSIC alone is needed; by default those for the variance
            and the screens.
        """
        engine = self.settings.engine
        if self.rows.any and (isinstance(engine, Blocks) or engine == "blocks"):
            raise InputError(
                "`engine='blocks'` takes the rows to be independent; leave out `clusters` and "
                "`max_lag`, or use `engine='tiled'`."
            )
        beside = self.means_beside(pairs) if means is None else means
        bandwidths = self.settings.variance == "jackknife"
        if self.residuals is not None:
            computed = self.residuals.influence(pairs, means=beside, bandwidths=bandwidths)
        else:
            computed = compute_influence(
                self.fitted,
                pairs,
                engine,
                bandwidths=bandwidths,
                means=beside,
                allow_blocks=not self.rows.any and self.settings.variance == "jackknife",
            )
        return replace(
            computed,
            kernels=descriptions(self.fitted),
            rows=self.dataset.rows,
            library=self.dataset.library,
        )

    def compute(self, pairs: Sequence[Pair], *, needed: Sequence[Pair] | None = None) -> Computed:
        """Compute A and estimate the dependences of these pairs.

        Parameters
        ----------
        pairs : sequence of Pair
        needed : sequence of Pair, optional
            The pairs of which A is computed; by default those that the measure needs.
        """
        measure = self.settings.measure
        influence = self.influence(pairs_needed(pairs, measure) if needed is None else needed)
        return self.finish(influence, pairs)

    def finish(
        self, influence: Influence, pairs: Sequence[Pair], *, like: Computed | None = None
    ) -> Computed:
        """Estimate the dependences of these pairs from A.

        Parameters
        ----------
        influence : Influence
        pairs : sequence of Pair
        like : Computed, optional
            Of the same data and pairs at other bandwidths: what is to beware of is known from it.
        """
        settings = self.settings
        if self.rows.any:
            dependences = dependent_estimates(
                influence, pairs, settings.measure, self.rows, self.fitted
            )
        else:
            dependences = estimate_dependences(
                influence, pairs, settings.measure, settings.variance
            )
        if like is None:
            return self.describe(influence, dependences)
        _check_finite(dependences)
        provenance = replace(
            like.provenance, kernels=influence.kernels, dependence=dependences.rows
        )
        return replace(like, influence=influence, dependences=dependences, provenance=provenance)

    def describe(self, influence: Influence, dependences: Estimates) -> Computed:
        """Note where the dependences come from and what to beware of."""
        _check_finite(dependences)
        provenance = Provenance(
            measure=self.settings.measure,
            variance=self.settings.variance,
            kernels=influence.kernels,
            engine=influence.engine,
            rows=self.dataset.rows,
            dependence=dependences.rows,
            n_dropped=self.dataset.n_dropped,
            library=self.dataset.library,
            unit_kernels=all(kernel.in_unit_interval for kernel in self.fitted.values()),
            conditioning=influence.conditioning,
            notes=(*self.dataset.notes, *influence.notes),
        )
        data = self.subject(dependences.pairs, influence.conditioning)
        cautions = (*cautions_about(data), *influence.cautions)
        return Computed(influence, dependences, provenance, cautions, data)

    def plan(self, pairs: Sequence[Pair]) -> Plan:
        """Say how A would be computed, without computing it."""
        needed = pairs_needed(pairs, self.settings.measure)
        return make_plan(
            self.fitted,
            distinct(needed),
            distinct(self.means_beside(needed)),
            self.settings.engine,
            allow_blocks=not self.rows.any and self.settings.variance == "jackknife",
        )

    def shuffled_hsics(self, pair: Pair, n_permutations: int) -> FloatArray:
        """Compute the HSIC of a pair after random permutations of its second variable."""
        from reldep.engine.permutations import permuted_hsics

        first, second = (self.fitted[name] for name in pair)
        rng = self.settings.generator()
        orders = (rng.permutation(len(first)) for _ in range(n_permutations))
        return permuted_hsics(first, second, orders)

    def part(self, rows: IntArray, names: Mapping[str, str]) -> Study:
        """Keep some rows and variables under new names; the kernels are fitted again."""
        dataset = self.dataset
        variables = {new: dataset.variables[old].take(rows) for old, new in names.items()}
        kernels = {new: self.kernels[old].take(rows) for old, new in names.items()}
        return Study(
            replace(
                dataset,
                variables=variables,
                rows=dataset.rows.take(rows),
                clusters=_chosen(dataset.clusters, rows),
                second_clusters=_chosen(dataset.second_clusters, rows),
            ),
            kernels,
            self.settings,
        )

    def means_beside(self, pairs: Sequence[Pair]) -> tuple[Pair, ...]:
        """List the pairs whose HSIC the variance and the screens need beside A."""
        return pairs_beside(pairs, len(self.dataset), self.settings.variance)


def _check_finite(dependences: Estimates) -> None:
    if not np.isfinite(dependences.values).all():
        raise InputError(
            "the dependences are too large or too small to be numbers; rescale the data, for "
            "instance by their standard deviation."
        )


def read_study(
    blocks: Mapping[str, Any],
    settings: Settings,
    *,
    roles: Sequence[str] | None = None,
    among: Sequence[str] | None = None,
) -> Study:
    """Read the blocks and give every variable its kernel.

    Parameters
    ----------
    blocks : mapping of str to data
        By the name they have in the results.
    settings : Settings
    roles : sequence of str, optional
        The argument that each block was passed as, which a mapping of kernels may use as well.
    among : sequence of str, optional
        All variables that the user passed, where the blocks are only some of them.
    """
    names = list(blocks)
    specs = assign(settings.kernel, names, roles=roles, among=among, measure=settings.measure)
    given = {name: data for name, data in blocks.items() if isinstance(data, Precomputed)}
    specs |= given
    rows_of = {name: np.arange(len(matrix)) for name, matrix in given.items()}
    beside, covariates = {}, None
    if settings.given is not None:
        check_covariates(settings.given)
        beside = {name_of_covariates(blocks): settings.given}
    dataset = read_dataset(
        {**blocks, **rows_of, **beside},
        missing=settings.missing,
        clusters=settings.clusters,
        ids=settings.ids,
    )
    settings.check_lag(len(dataset), dataset.rows.time)
    for name in beside:
        dataset, covariates = split_covariates(
            dataset,
            name,
            settings.given,
            skipped=given,
            whole=True if settings.engine == "dense" else None,
        )
    kernels = {
        name: as_kernel(specs[name], variable) for name, variable in dataset.variables.items()
    }
    if dataset.n_dropped:
        kernels = {name: kernel.take(dataset.rows.positions) for name, kernel in kernels.items()}
    automatic = frozenset(
        name for name, spec in specs.items() if isinstance(spec, str) and spec == "auto"
    )
    return Study(dataset, kernels, settings, covariates=covariates, automatic=automatic)


def source_apart(study: Study, source: str, targets: Sequence[str]) -> Study:
    """Name the source of a question; raise if a target contains it."""
    named = replace(study, source=source)
    marks = named.subject(()).marks
    if source in marks:
        check_source_outside(marks, source, [name for name in targets if name in marks])
    return named


def reuse_influence(influence: Influence, pairs: Sequence[Pair], settings: Settings) -> Computed:
    """Take an A that is there already, after checking that it has what is asked for."""
    for name, default in DECIDED.items():
        value = getattr(settings, name)
        if value is not default and value != default:
            raise InputError(
                f"`{name}={value!r}` was decided when the Influence was computed; pass it to "
                "reldep.influence(), or pass data in place of the Influence."
            )
    _check_given_decided(influence, settings)
    _check_pairs_known(influence, pairs_needed(pairs, settings.measure))
    n = influence.n_observations
    settings.check_lag(n)
    first, second = read_clusterings(settings.clusters, n)
    rows = RowDependence.of(first, second, settings.max_lag, n)
    if rows.any:
        dependences = dependent_estimates(influence, pairs, settings.measure, rows)
    else:
        dependences = estimate_dependences(influence, pairs, settings.measure, settings.variance)
    provenance = Provenance(
        measure=settings.measure,
        variance=settings.variance,
        kernels=influence.kernels,
        engine=influence.engine,
        rows=influence.observations(),
        dependence=dependences.rows,
        library=influence.library,
        conditioning=influence.conditioning,
        notes=influence.notes,
    )
    clusterings = tuple(codes for codes in (first, second) if codes is not None)
    data = Data(
        variables={},
        rows=provenance.rows,
        pairs=dependences.pairs,
        clusters=clusterings,
        max_lag=settings.max_lag,
        conditioning=influence.conditioning,
    )
    cautions = (*cautions_about(data), *influence.cautions)
    return Computed(influence, dependences, provenance, cautions, data)


def _check_given_decided(influence: Influence, settings: Settings) -> None:
    """Refuse covariates for an A that is there, and dependent rows for one given covariates."""
    if settings.given is not None:
        raise InputError(
            "`given` cannot be applied to an Influence that is computed already; pass data in "
            "place of the Influence."
        )
    for name in ("clusters", "max_lag"):
        if influence.conditioning is not None and getattr(settings, name) is not None:
            raise InputError(
                "the Influence was computed with `given`, which takes the rows to be independent; "
                f"leave `{name}` out."
            )


def _check_pairs_known(influence: Influence, pairs: Sequence[Pair]) -> None:
    absent = []
    for pair in pairs:
        try:
            influence.row(pair)
        except KeyError:
            absent.append(pair)
    if absent:
        raise InputError(
            f"the Influence has no conditional means of {', '.join(map(repr, absent))}; add them "
            "to the pairs of reldep.influence() (normalised measures need the self-pairs too)."
        )


def _chosen(codes: IntArray | None, rows: IntArray) -> IntArray | None:
    return None if codes is None else codes[rows]


def descriptions(fitted: Mapping[str, FittedKernel]) -> dict[str, dict[str, Any]]:
    """Describe the fitted kernel of every variable."""
    return {name: kernel.describe() for name, kernel in fitted.items()}


def display_names(
    roles: Sequence[str], blocks: Sequence[Any], names: Sequence[str] | None
) -> list[str]:
    """Choose the names for a result: those given, else those the data carry, else the roles."""
    if names is not None:
        chosen = [str(name) for name in names]
        if len(chosen) != len(roles) or len(set(chosen)) != len(chosen):
            raise InputError(
                f"`names={names!r}` does not name the variables; pass {len(roles)} different "
                f"names, for {', '.join(roles)}."
            )
        return chosen
    carried = [native_name(block) or role for role, block in zip(roles, blocks, strict=True)]
    return carried if len(set(carried)) == len(carried) else list(roles)
