"""Two passes over runs of observations: from centred features to terms.

With K = ΦΦ', L = ΨΨ', κ_i = |φ_i|² and λ_i = |ψ_i|²::

    k   = Φ(Φ'1) - κ
    q_i = φ_i'(Φ'Ψ)ψ_i - κ_i λ_i
    K~l = Φ(Φ'l) - κ∘l,     Φ'l = (Φ'Ψ)(Ψ'1) - Φ'λ

so that the first pass adds up Φ'1, Φ'Ψ and Φ'λ, and the second finishes each row. Memory is
linear in m, and neither Φ nor K is ever held.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.engine.blocks import off_row_means
from reldep.engine.near_linear.feature_rows import SparseCross, product_of_all, product_of_run
from reldep.engine.terms import Cost, Terms, canonical
from reldep.engine.threads import RUN_BYTES, Steps, SummingThreads, runs, single_threaded_blas
from reldep.system import available_cores

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reldep.data.variables import FloatArray
    from reldep.engine.near_linear.feature_rows import CentredRows, Cross, FeatureMap, RowShape
    from reldep.engine.terms import Pair, Wanted
    from reldep.engine.threads import OnProgress
    from reldep.exceptions import ReldepWarning


# Copies of the runs of features that threads work on.
RUNS_IN_WORK = 2

# Bytes that a stored entry of sparse features takes on its way, indices and copies included.
SPARSE_ENTRY = 32

# Nanoseconds on one core for a multiplication and addition in a matrix product, and for looking
# up one pair of entries of sparse rows.
PRODUCT_STEP = 0.06
SPARSE_PAIR = 60.0


@dataclass(frozen=True, eq=False)
class FeatureSums:
    """What the first pass adds up, with centred features.

    Attributes
    ----------
    total : dict of str to ndarray
        ``Φ'1``.
    products : dict of Pair to ndarray or csr_array
        ``Φ'Ψ`` by canonical pair, as :func:`product_of_run` gives it.
    weighted : dict of Pair to ndarray
        ``Φ'λ``: features of the first, squared norms of the second.
    norms : dict of str to float
        ``Σκ``.
    norm_products : dict of Pair to float
        ``κ'λ`` of the pairs of which the HSIC alone is wanted.
    """

    total: dict[str, FloatArray]
    products: dict[Pair, Any]
    weighted: dict[Pair, FloatArray]
    norms: dict[str, float]
    norm_products: dict[Pair, float]

    def __add__(self, other: FeatureSums) -> FeatureSums:
        return FeatureSums(
            {name: value + other.total[name] for name, value in self.total.items()},
            {pair: value + other.products[pair] for pair, value in self.products.items()},
            {pair: value + other.weighted[pair] for pair, value in self.weighted.items()},
            {name: value + other.norms[name] for name, value in self.norms.items()},
            {pair: value + other.norm_products[pair] for pair, value in self.norm_products.items()},
        )


@dataclass(frozen=True, eq=False)
class Factors:
    """What the second pass multiplies each row with.

    Attributes
    ----------
    total : dict of str to ndarray
        ``Φ'1``.
    cross : dict of Pair to Cross
        ``Φ'Ψ`` by canonical pair.
    onto : dict of Pair to ndarray
        ``Φ'l``: the features of the first added up with the row sums of the second as weights.
    """

    total: dict[str, FloatArray]
    cross: dict[Pair, Cross]
    onto: dict[Pair, FloatArray]

    @classmethod
    def of(cls, sums: FeatureSums, n: int, centres: Mapping[str, FloatArray]) -> Factors:
        """Finish the sums over all n observations."""
        cross = {
            (x, y): product_of_all(product, n, centres[x], centres[y])
            for (x, y), product in sums.products.items()
        }
        onto = {}
        for (x, y), weighted in sums.weighted.items():
            if y not in sums.total:
                onto[x, y] = weighted
                continue
            if (x, y) in cross:
                product = cross[x, y].times(sums.total[y])
            else:
                product = cross[y, x].transposed_times(sums.total[y])
            onto[x, y] = product - weighted
        return cls(sums.total, cross, onto)


@dataclass(frozen=True, eq=False)
class FinishedRows:
    """What the second pass fills in, a run at a time.

    `along` is each row along the centre, `norms` its squared length. `crossed` has the part of
    kernels with features, for each pair that one takes part in.
    """

    row_sums: dict[str, FloatArray]
    along: dict[str, FloatArray]
    norms: dict[str, FloatArray]
    products: dict[Pair, FloatArray]
    crossed: dict[Pair, FloatArray]


@dataclass(frozen=True, eq=False)
class FeaturePasses:
    """The features of all variables, what is wanted of them, and the two passes that give it.

    Attributes
    ----------
    maps : mapping of str to FeatureMap
    wanted : Wanted
        Of these variables.
    on_progress : callable
    vectors : mapping of Pair to ndarray
        By pair, with features in first place: a vector that the kernel is multiplied by as well,
        such as the row sums of a variable that has no features.
    """

    maps: Mapping[str, FeatureMap]
    wanted: Wanted
    on_progress: OnProgress
    vectors: Mapping[Pair, FloatArray] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """The number of observations."""
        return len(next(iter(self.maps.values())).kernel)

    def terms(self, notes: tuple[ReldepWarning, ...] = ()) -> Terms:
        """Make both passes, on all cores."""
        return self.finished(notes)[0]

    def finished(self, notes: tuple[ReldepWarning, ...] = ()) -> tuple[Terms, FinishedRows]:
        """Make both passes; give what is wanted, and all that was found on the way."""
        centres = {name: feature_map.centre for name, feature_map in self.maps.items()}
        pieces = [[place] for place in self._places]
        n_threads = min(available_cores(), len(pieces))
        steps = Steps(self.on_progress, 2 * len(pieces))
        with SummingThreads[slice](n_threads) as threads, single_threaded_blas(n_threads):
            sums = threads.summed(self._sums_of_runs, pieces, steps.one_more)
            factors = Factors.of(sums, self.n, centres)
            rows = self._empty_rows(factors)
            finish = partial(self._finish_runs, factors=factors, into=rows)
            threads.summed(finish, pieces, steps.one_more)
        for pair, norm_product in sums.norm_products.items():
            if pair not in rows.products:
                # Σ φ'Cψ over all rows is the squared norm of C = Φ'Ψ: no second pass is needed.
                total = factors.cross[pair].squared_norm() - norm_product
                rows.products[pair] = np.array([total])
        return self._terms(rows, notes), rows

    def _terms(self, rows: FinishedRows, notes: tuple[ReldepWarning, ...]) -> Terms:
        centres = {name: feature_map.centre for name, feature_map in self.maps.items()}
        shifts = {name: _row_shift(along, centres[name]) for name, along in rows.along.items()}
        # The sums hold the diagonal as well, which is taken off at the end: its rounding stays.
        spreads = {name: float(norms.max()) for name, norms in rows.norms.items()}
        sizes = {name: float(centre @ centre) + spreads[name] for name, centre in centres.items()}
        return Terms(
            self.n,
            rows.row_sums,
            rows.products,
            rows.crossed,
            shifts,
            sizes,
            notes,
            spreads=spreads,
        )

    def _sums_of_runs(self, places: Iterable[slice]) -> FeatureSums:
        return reduce(FeatureSums.__add__, map(self._sums_of_run, places))

    def _sums_of_run(self, place: slice) -> FeatureSums:
        rows, norms = self._features(place)
        ones = np.ones(place.stop - place.start)
        return FeatureSums(
            {name: part.transposed_times(ones) for name, part in rows.items()},
            {(x, y): product_of_run(rows[x], rows[y]) for x, y in self.wanted.product_pairs()},
            {
                **{(x, y): rows[x].transposed_times(norms[y]) for x, y in self.wanted.multiplied()},
                **{
                    (x, y): rows[x].transposed_times(vector[place])
                    for (x, y), vector in self.vectors.items()
                },
            },
            {name: float(values.sum()) for name, values in norms.items()},
            {(x, y): float(norms[x] @ norms[y]) for x, y in self._means_only},
        )

    @cached_property
    def _means_only(self) -> tuple[Pair, ...]:
        """The pairs of which the HSIC alone is wanted."""
        full = set(self.wanted.crossed_pairs())
        return tuple(pair for pair in self.wanted.product_pairs() if pair not in full)

    def _finish_runs(self, places: Iterable[slice], *, factors: Factors, into: FinishedRows) -> int:
        """Finish the rows of some runs; give the number of runs."""
        n_runs = 0
        for place in places:
            self._finish_run(place, factors, into)
            n_runs += 1
        return n_runs

    def _finish_run(self, place: slice, factors: Factors, into: FinishedRows) -> None:
        rows, norms = self._features(place)
        onto: dict[Pair, FloatArray] = {}
        for name, part in rows.items():
            own = {pair: vector for pair, vector in factors.onto.items() if pair[0] == name}
            # All at once, so that the rows are read from memory but once.
            vectors = (factors.total[name], self.maps[name].centre, *own.values())
            products = part.times(np.stack(vectors, axis=1)).T
            into.row_sums[name][place] = products[0] - norms[name]
            into.along[name][place] = products[1]
            into.norms[name][place] = norms[name]
            onto |= dict(zip(own, products[2:], strict=True))
        for (x, y), values in into.products.items():
            cross = factors.cross[x, y]
            values[place] = cross.between(rows[x], rows[y]) - norms[x] * norms[y]
        for values in into.crossed.values():
            values[place] = 0.0
        for (x, y), product in onto.items():
            weights = self.vectors[x, y] if (x, y) in self.vectors else into.row_sums[y]
            times = 2.0 if x == y else 1.0
            into.crossed[canonical((x, y))][place] += times * (product - norms[x] * weights[place])

    def _features(self, place: slice) -> tuple[dict[str, CentredRows], dict[str, FloatArray]]:
        """Make the features of a run, and their squared norms."""
        rows = {name: feature_map.centred(place) for name, feature_map in self.maps.items()}
        return rows, {name: part.squared_norms() for name, part in rows.items()}

    def _empty_rows(self, factors: Factors) -> FinishedRows:
        means_only = set(self._means_only)
        in_full = (
            pair
            for pair, cross in factors.cross.items()
            if pair not in means_only or isinstance(cross, SparseCross)
        )
        return FinishedRows(
            {name: np.empty(self.n) for name in self.maps},
            {name: np.empty(self.n) for name in self.maps},
            {name: np.empty(self.n) for name in self.maps},
            {pair: np.empty(self.n) for pair in in_full},
            {canonical(pair): np.empty(self.n) for pair in factors.onto},
        )

    @cached_property
    def _places(self) -> list[slice]:
        """Cut the observations by what a row needs: its features, and pairs of sparse entries."""
        entries = sum(feature_map.entries_per_row for feature_map in self.maps.values())
        for x, y in self.wanted.product_pairs():
            first, second = self.maps[x], self.maps[y]
            if first.is_sparse and second.is_sparse:
                entries += first.entries_per_row * second.entries_per_row
        return list(runs(self.n, 8.0 * entries))


def _row_shift(along: FloatArray, centre: FloatArray) -> FloatArray:
    """Give what centring took off the mean of each row over the others.

    With centre c, ``φ_i'φ_j = (φ_i - c)'(φ_j - c) + f_i + f_j`` and
    ``f_i = (φ_i - c)'c + |c|²/2``.
    """
    return off_row_means(along + centre @ centre / 2.0)


def passes_cost(n: int, rows: Mapping[str, RowShape], wanted: Wanted) -> Cost:
    """Estimate both passes, and the one before them that finds the centres."""
    names = wanted.names()
    entries = sum(rows[name].entries for name in names)
    steps = 3 * sum(rows[name].nanoseconds for name in names)
    memory = 8 * n * (wanted.n_sums() + len(names))
    cores = available_cores()
    memory += int(RUNS_IN_WORK * min(cores * RUN_BYTES, 8 * n * entries))
    memory += int(SPARSE_ENTRY * n * sum(rows[x].entries for x in names if rows[x].is_sparse))
    for x, y in wanted.product_pairs():
        first, second = rows[x], rows[y]
        n_products = first.entries * second.entries
        if first.is_sparse and second.is_sparse:
            steps += 2 * SPARSE_PAIR * n_products
            memory += int(8 * min(n * n_products, first.width * second.width))
        else:
            steps += 2 * PRODUCT_STEP * n_products
            memory += 16 * first.width * second.width
    return Cost(memory, steps * n * 1e-9 / cores)
