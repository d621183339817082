"""The steps every question shares: read the data, fit the kernels, compute A, answer."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import MEASURES, Dataset, check_choice, read_dataset
from reldep.engine import Influence, Pair, Plan, compute_influence, plan
from reldep.engine.job import make_job
from reldep.engine.permuted import shuffled_hsics
from reldep.kernels.given import Precomputed
from reldep.kernels.radial import Distance
from reldep.kernels.resolve import as_kernel, assign_kernels
from reldep.results.provenance import Provenance
from reldep.stats.measures import FOLLOWS_BANDWIDTHS, SECOND_ORDER
from reldep.stats.screening import pairs_to_screen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.exceptions import ReldepWarning
    from reldep.kernels.base import FittedKernel, Kernel


def as_generator(rng: Any) -> np.random.Generator:
    """Turn `rng` into a generator; None gives a fixed seed, so that answers repeat."""
    return np.random.default_rng(0 if rng is None else rng)


@dataclass(frozen=True, eq=False)
class Study:
    """Data with the kernels chosen for them, ready for an engine."""

    dataset: Dataset
    kernels: Mapping[str, Kernel]
    engine: Any = "auto"
    seed: Any = None
    fits: Mapping[str, FittedKernel] | None = None

    @cached_property
    def fitted(self) -> Mapping[str, FittedKernel]:
        """The kernels with their data; fitted when first needed, then kept."""
        if self.fits is not None:
            return self.fits
        rng = as_generator(self.seed)
        return {
            name: kernel.fit(self.dataset.variables[name], rng=rng)
            for name, kernel in self.kernels.items()
        }

    def influence(
        self, pairs: Sequence[Pair], variance: str = "fixed-kernel", *, screened: bool = True
    ) -> Influence:
        """Compute A for these pairs, with all that this variance and the screens need."""
        needs = _needs(pairs, variance, len(self.dataset), screened=screened)
        computed = compute_influence(self.fitted, pairs, self.engine, **needs)
        return replace(
            computed,
            kernels={name: kernel.describe() for name, kernel in self.fitted.items()},
            rows=self.dataset.rows,
            library=self.dataset.library,
        )

    def plan(self, pairs: Sequence[Pair], variance: str) -> Plan:
        """Say how A would be computed, without computing it."""
        job = make_job(self.fitted, pairs, **_needs(pairs, variance, len(self.dataset)))
        return plan(job.kernels, job.wanted, self.engine)

    def shuffled_hsics(self, pair: Pair, n_permutations: int) -> FloatArray:
        """Compute the HSIC of a pair after random permutations of its second variable."""
        first, second = (self.fitted[name] for name in pair)
        kernel = self.kernels[pair[1]].frozen(second)
        variable = self.dataset.variables[pair[1]]

        def shuffle(order: IntArray) -> FittedKernel:
            return kernel.take(order).fit(variable.take(order), rng=as_generator(self.seed))

        rng = as_generator(self.seed)
        orders = (rng.permutation(len(variable)) for _ in range(n_permutations))
        return shuffled_hsics(first, second, shuffle, orders, self.engine)

    def scaled(self, factor: float) -> Study:
        """Multiply all bandwidths; none is chosen anew."""
        fits = {name: kernel.scaled(factor) for name, kernel in self.fitted.items()}
        return replace(self, fits=fits)


def _needs(
    pairs: Sequence[Pair], variance: str, n: int, *, screened: bool = True
) -> dict[str, Any]:
    """List what is needed beside the conditional means of the pairs."""
    return {
        "bandwidths": variance in FOLLOWS_BANDWIDTHS,
        "second_order": variance in SECOND_ORDER,
        "means": pairs_to_screen(pairs, n) if screened else (),
    }


def provenance_of(
    dataset: Dataset, fitted: Mapping[str, FittedKernel], influence: Influence
) -> Provenance:
    """Write down how a result is computed."""
    return Provenance(
        kernels={name: kernel.describe() for name, kernel in fitted.items()},
        engine=influence.engine,
        rows=dataset.rows,
        n_dropped=dataset.n_dropped,
        library=dataset.library,
        unit_kernels=all(kernel.in_unit_interval for kernel in fitted.values()),
        clusters=dataset.clusters,
    )


def prepare(
    blocks: Mapping[str, Any],
    *,
    kernel: Any = "auto",
    measure: str = "hsic",
    missing: str = "raise",
    clusters: Any = None,
    engine: Any = "auto",
    rng: Any = None,
    roles: Sequence[str] | None = None,
) -> Study:
    """Read the blocks and give every variable its kernel.

    Parameters
    ----------
    blocks : mapping of str to data
        By the name they have in the results.
    roles : sequence of str, optional
        The argument names of the blocks, which a mapping of kernels may use as well.
    """
    check_choice("measure", measure, MEASURES)
    names = list(blocks)
    specs = assign_kernels(_by_name(kernel, roles, names), names)
    given = {name: data for name, data in blocks.items() if isinstance(data, Precomputed)}
    specs |= given
    rows_of = {name: np.arange(len(matrix)) for name, matrix in given.items()}
    dataset = read_dataset({**blocks, **rows_of}, missing=missing, clusters=clusters)
    kernels = {
        name: _measured(as_kernel(specs[name], variable), specs[name], measure)
        for name, variable in dataset.variables.items()
    }
    if dataset.n_dropped:
        kernels = {name: kernel.take(dataset.rows) for name, kernel in kernels.items()}
    return Study(dataset, kernels, engine, rng)


def _by_name(kernel: Any, roles: Sequence[str] | None, names: Sequence[str]) -> Any:
    """Let a mapping of kernels use argument names in place of the variables' own."""
    if roles is None or not hasattr(kernel, "items"):
        return kernel
    own = dict(zip(roles, names, strict=True))
    return {own.get(key, key): value for key, value in kernel.items()}


def _measured(kernel: Kernel, spec: Any, measure: str) -> Kernel:
    """Distance correlation is defined by distances: it brings its own kernel."""
    if measure != "dcor":
        return kernel
    if isinstance(spec, str) and spec.lower() in {"auto", "distance"}:
        return Distance()
    if isinstance(kernel, (Distance, Precomputed)):
        return kernel
    raise ValueError(
        f'measure="dcor" is defined by distances, not by kernel={spec!r}; leave kernel out, pass '
        'Distance(exponent) or a precomputed negative distance, or use measure="cka".'
    )


def half(study: Study, rows: IntArray, names: Mapping[str, str]) -> Study:
    """Keep some rows and variables under new names; the kernels are fitted again."""
    dataset = study.dataset
    variables = {new: dataset.variables[old].take(rows) for old, new in names.items()}
    part = Dataset(variables, dataset.rows[rows])
    kernels = {new: study.kernels[old].take(rows) for old, new in names.items()}
    return Study(part, kernels, study.engine, study.seed)


def display_names(
    roles: Sequence[str], blocks: Sequence[Any], names: Sequence[str] | None
) -> list[str]:
    """Choose the names for a result: those given, else those the data carry, else the roles."""
    from reldep.data.objects import native_name

    if names is not None:
        chosen = [str(name) for name in names]
        if len(chosen) != len(roles) or len(set(chosen)) != len(chosen):
            raise ValueError(
                f"names={names!r}; pass {len(roles)} different names, for {', '.join(roles)}."
            )
        return chosen
    carried = [native_name(block) or role for role, block in zip(roles, blocks, strict=True)]
    return carried if len(set(carried)) == len(carried) else list(roles)


def raise_cautions(cautions: Iterable[ReldepWarning]) -> None:
    """Raise each caution as a Python warning, pointing at the user's own line."""
    for caution in cautions:
        warnings.warn(caution, stacklevel=_frames_of_package())


def _frames_of_package() -> int:
    """Count the callers that belong to this package, with the one outside it."""
    count, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("reldep."):
        count, frame = count + 1, frame.f_back
    # This function is among those counted, but is not there any more when the warning is raised.
    return count - 1
