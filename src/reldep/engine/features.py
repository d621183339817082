"""Kernels with explicit features, K = ΦΦ': q in one pass over the rows.

With row effects f taken off, K is bilinear in (φ, f, 1), and ``q = rows((Φ̂ C) ∘ Ψ̂) - κλ`` with
``C = Φ̂'Ψ̂`` and the diagonals κ and λ. Dense features are taken less their mean; sparse ones stay as
they are, and f carries the centre.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from reldep.data.variables import FloatArray
from reldep.engine.centred import EPSILON, Places, Products, row_effects
from reldep.engine.threads import at_work
from reldep.kernels.base import FittedKernel
from reldep.kernels.distances import row_runs
from reldep.system import available_cores


class Table(ABC):
    """A kernel whose sums need no kernel values: explicit features, or a line."""

    @abstractmethod
    def __len__(self) -> int:
        """Count the rows."""

    @property
    @abstractmethod
    def size(self) -> float:
        """About the size of the values."""

    @abstractmethod
    def sums(self, weights: FloatArray) -> FloatArray:
        """Return the sums of kernel values times weights over the other rows."""

    @abstractmethod
    def products(self, other: Table) -> FloatArray:
        """Return q with another such kernel."""

    @cached_property
    def row_sums(self) -> FloatArray:
        """The sums of rows without the diagonal."""
        return self.sums(np.ones(len(self)))

    @cached_property
    def effects(self) -> FloatArray:
        """What makes rows sum to 0."""
        return row_effects(self.row_sums)


@dataclass(frozen=True, eq=False)
class FeatureTable(Table):
    """Explicit features of all rows; dense ones less their mean."""

    phi: Any

    @classmethod
    def of(cls, kernel: FittedKernel) -> FeatureTable:
        """Return the features of a kernel."""
        found = kernel.features(slice(None))
        if found is None:
            raise TypeError(f"{kernel.label} has no features")
        if not isinstance(found, np.ndarray):
            return cls(found.tocsr())
        centred = np.asarray(found - found.mean(axis=0), dtype=np.float64)
        if centred.shape[1] > centred.shape[0]:
            # Inner products need no more features than there are rows.
            centred = np.asarray(np.linalg.qr(centred.T, mode="r")).T
        return cls(centred)

    def __len__(self) -> int:
        return int(self.phi.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether the features are a sparse array."""
        return not isinstance(self.phi, np.ndarray)

    @cached_property
    def norms(self) -> FloatArray:
        """|φ_i|² of every row."""
        if self.is_sparse:
            return np.asarray(self.phi.multiply(self.phi).sum(axis=1)).ravel()
        return np.asarray(np.einsum("ij,ij->i", self.phi, self.phi))

    def sums(self, weights: FloatArray) -> FloatArray:
        """Return the sums of kernel values times weights over the other rows."""
        whole = self.phi @ np.asarray(self.phi.T @ weights)
        return np.asarray(whole - self.norms * weights)

    @property
    def size(self) -> float:
        """About the size of the values."""
        return float(self.norms.mean())

    @property
    def diagonal(self) -> FloatArray:
        """The diagonal of the kernel with the row effects off."""
        return np.asarray(self.norms - 2.0 * self.effects)

    def columns(self) -> Iterator[FloatArray]:
        """Return every feature of all rows."""
        table = self.phi.tocsc() if self.is_sparse else self.phi
        for k in range(table.shape[1]):
            column = table[:, [k]]
            yield np.ascontiguousarray((column.toarray() if self.is_sparse else column)[:, 0])

    def products(self, other: Table) -> FloatArray:
        """Return q with another kernel."""
        if not isinstance(other, FeatureTable):
            return other.products(self)
        f, h = self.effects, other.effects
        ones = np.ones(len(f))
        own = np.column_stack([f, ones]), np.column_stack([-ones, -f])
        others = np.column_stack([h, ones]), np.column_stack([-ones, -h])
        q = rows_of_cross(self.phi, other.phi)
        q += _rows(self.phi @ _dense(self.phi.T @ others[1]), others[0])
        q += _rows(other.phi @ _dense(other.phi.T @ own[1]), own[0])
        q += _rows(own[0] @ (own[1].T @ others[1]), others[0])
        return np.asarray(q - self.diagonal * other.diagonal)

    def loses_digits(self, other: Table, q: FloatArray) -> bool:
        """Return True if the largest diagonal entries leave fewer than nine digits of q."""
        if not isinstance(other, FeatureTable):
            return False
        largest = np.abs(self.diagonal).max() * np.abs(other.diagonal).max()
        return bool(EPSILON * largest > 1e-9 * np.abs(q).max())


def rows_of_cross(phi: Any, psi: Any) -> FloatArray:
    """Return the row sums of (Φ Φ'Ψ) ∘ Ψ, some rows at a time."""
    n = phi.shape[0]
    cross = phi.T @ psi
    if not isinstance(phi, np.ndarray) and not isinstance(psi, np.ndarray):
        if _is_single(phi) and _is_single(psi):
            # One entry per row, as for labels: an entry of the table each.
            entries = np.asarray(cross.tocsr()[phi.indices, psi.indices]).ravel()
            return np.asarray(entries * phi.data * psi.data)
    elif not isinstance(cross, np.ndarray):
        cross = cross.toarray()
    q = np.empty(n)
    for run in row_runs(n, psi.shape[1], 4_000_000):  # products of 32 MB at a time
        q[run] = _rows(phi[run] @ cross, psi[run])
    return q


def _is_single(table: Any) -> bool:
    return bool((np.diff(table.indptr) == 1).all())


def _dense(table: Any) -> FloatArray:
    return table if isinstance(table, np.ndarray) else np.asarray(table.toarray())


def _rows(first: Any, second: Any) -> FloatArray:
    """Return row sums of a product entry by entry."""
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", first, second))
    one, other = (first, second) if isinstance(second, np.ndarray) else (second, first)
    product = one.multiply(other)
    return np.asarray(product.sum(axis=1)).ravel()


@dataclass(frozen=True)
class Features:
    """Multiply explicit features; exact, for linear and polynomial kernels and labels."""

    name: ClassVar[str] = "features"

    def products(
        self, kernels: Sequence[FittedKernel], pairs: Places, totals: Places = ()
    ) -> Products:
        """Return q of pairs and Σq of further pairs."""
        return multiplied([FeatureTable.of(kernel) for kernel in kernels], pairs, totals)


def multiplied(tables: Sequence[Table], pairs: Places, totals: Places) -> Products:
    """Return q of pairs of tables and Σq of further pairs, on all cores."""
    for table in tables:
        _ = table.effects  # before threads need it
    q, sums = np.empty((len(pairs), len(tables[0]))), np.empty(len(totals))
    lost = []
    with at_work(available_cores()) as results:
        wanted = [(tables[x], tables[y]) for x, y in (*pairs, *totals)]
        found = results(lambda pair: pair[0].products(pair[1]), wanted)
        for p, ((x, y), one) in enumerate(zip(wanted, found, strict=True)):
            if p < len(q):
                q[p] = one
            else:
                sums[p - len(q)] = one.sum()
            if isinstance(x, FeatureTable) and x.loses_digits(y, one):
                lost.append(p)
    return Products(q, sums, np.array([table.size for table in tables]), tuple(lost))
