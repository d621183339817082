"""The formulas of docs/method.md, written down from the page alone, give the program's numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

import reldep
from brute_force import centred
from reldep.kernels import Laplace

PAIRS = [("x", "y"), ("x", "z"), ("x", "x"), ("y", "y"), ("z", "z"), ("y", "z")]


def example(m, columns):
    rng = np.random.default_rng(m)
    x = rng.normal(size=(m, columns))
    y, z = x + rng.normal(size=(m, columns)), np.sin(2 * x) + 0.7 * rng.normal(size=(m, columns))
    return {"x": x, "y": y, "z": z}


def distances(x):
    return np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))


class Page:
    """A, the influence through bandwidths, and what the page computes from them."""

    def __init__(self, data, measure):
        m = self.m = len(data["x"])
        self.k, self.normalised = m / (m - 4), measure != "hsic"
        K, moved, lever = {}, {}, {}
        for name, values in data.items():
            D = distances(values)
            mean = D.sum(1) / (m - 1)
            sigma = mean.mean()
            has_bandwidth = measure != "dcor"
            kernel = np.exp(-D / sigma) if has_bandwidth else -D
            K[name], moved[name] = centred(kernel), kernel * D / sigma
            lever[name] = 2 * (mean / sigma - 1) if has_bandwidth else 0.0
        self.H, self.without = {}, {}
        for u, v in PAIRS:
            q = (K[u] * K[v]).sum(1)
            a = ((m - 2) * q + q.sum()) / (2 * (m - 1) * (m - 3))
            slope = {w: (moved[w] * K[o]).sum() / (m * (m - 3)) for w, o in ((u, v), (v, u))}
            b = (2 if u == v else 1) * slope[u] * lever[u] + (u != v) * slope[v] * lever[v]
            H = a.mean()
            for pair in ((u, v), (v, u)):
                self.H[pair] = H
                self.without[pair] = H - 4 * (a - H) / (m - 4) - b / (m - 1)

    def theta(self, table, pair):
        x, y = pair
        scale = np.sqrt(table[x, x] * table[y, y]) if self.normalised else 1.0
        return table[pair] / scale

    def gradient(self, pair):
        x, y = pair
        if not self.normalised:
            return {pair: 1.0}
        theta = self.theta(self.H, pair)
        scale = np.sqrt(self.H[x, x] * self.H[y, y])
        return {
            pair: 1 / scale,
            (x, x): -theta / (2 * self.H[x, x]),
            (y, y): -theta / (2 * self.H[y, y]),
        }

    def second(self, one, two):
        H, total = self.H, 0.0
        for (a, b), g in self.gradient(one).items():
            for (c, d), h in self.gradient(two).items():
                total += g * h * (H[a, c] * H[b, d] + H[a, d] * H[b, c])
        return 2 / (self.m * (self.m - 3)) * total

    def moments(self, pairs):
        J = np.array([self.theta(self.without, pair) for pair in pairs])
        J -= J.mean(1, keepdims=True)
        C = np.array([[self.second(one, two) for two in pairs] for one in pairs])
        return J, (self.m - 1) / self.m * J @ J.T, C

    def compare(self, one=("x", "y"), two=("x", "z")):
        m, k = self.m, self.k
        pairs = [one, two]
        J, S, C = self.moments(pairs)
        theta = np.array([self.theta(self.H, pair) for pair in pairs])
        selves = [self.H[a, a] for pair in pairs for a in pair]
        u = 1.0 if self.normalised else np.prod(selves) ** 0.25
        t = np.clip((np.maximum(theta / u, 0) + 1 / m) / (1 + 2 / m), 1e-6, 1 - 1e-6)

        def weights(scale, slope):
            secant = (scale(t[0]) - scale(t[1])) / (t[0] - t[1])
            return np.array([slope(t[0]), -slope(t[1])]) / secant

        if self.normalised:
            base = weights(np.arctanh, lambda t: 1 / (1 - t**2))
            root = weights(lambda t: np.arctanh(np.sqrt(t)), lambda t: 0.5 / (np.sqrt(t) * (1 - t)))
        else:
            base = weights(lambda t: t, lambda t: 1.0)
            root = weights(np.sqrt, lambda t: 0.5 / np.sqrt(t))
        plain = np.array([1.0, -1.0])
        c = base @ C @ base
        V0 = max(min(base @ S @ base - k * c, root @ S @ root - k * c / 2), plain @ C @ plain)
        VD = max(plain @ S @ plain - k * plain @ C @ plain, plain @ C @ plain)
        kappa = stats.kurtosis(base @ J, fisher=False)
        return plain @ theta, V0, VD, kappa

    def interval(self, D, V0, VD, df):
        q, size = stats.t.ppf(0.975, df), abs(D)
        low = size - q * np.sqrt(V0)
        if low > 0:
            B = 2 * size + q**2 * (VD - V0) / size
            low = (B - np.sqrt(B**2 - 4 * (size**2 - q**2 * V0))) / 2
        ends = (low, size + q * np.sqrt(VD))
        return ends if D > 0 else (-ends[1], -ends[0])

    def single(self, pair):
        m, k = self.m, self.k
        J, S, C = self.moments([pair])
        u = 1.0 if self.normalised else np.sqrt(self.H[pair[0], pair[0]] * self.H[pair[1], pair[1]])
        e, v, c = self.theta(self.H, pair) / u, S[0, 0] / u**2, C[0, 0] / u**2
        top = min(max(e, 0), 0.9999) if self.normalised else max(e, 0)
        most = max(1, top**2 / (4 * c)) / m
        o = (
            most
            if v <= (k + 1) * c
            else np.clip(top * (k + 1) * c / (v - (k + 1) * c), 1 / m, most)
        )
        q = stats.t.ppf(0.975, degrees(m, stats.kurtosis(J[0], fisher=False)))

        def outside(x):
            if self.normalised:
                V = c * ((1 - x**2) / (1 - top**2)) ** 2
                V += v * x * (1 - x) ** 2 / ((top + o) * (1 - top) ** 2)
            else:
                V = c + v * x / (top + o)
            return abs(e - x) - q * np.sqrt(V)

        far = 1.0 if self.normalised else 10.0
        low = 0.0 if outside(0) <= 0 else optimize.brentq(outside, 0, top, xtol=1e-15)
        high = 1.0 if outside(far) <= 0 else optimize.brentq(outside, top, far, xtol=1e-15)
        return low * u, high * u


def degrees(m, kappa):
    return min(2 * (m - 4) / (kappa - 1), m - 1)


@pytest.mark.parametrize("measure", ["cka", "hsic", "dcor"])
@pytest.mark.parametrize(("m", "columns"), [(25, 1), (60, 3), (150, 2)])
def test_a_comparison_follows_from_the_page(m, columns, measure):
    data = example(m, columns)
    page = Page(data, measure)
    D, V0, VD, kappa = page.compare()
    df = degrees(m, kappa)
    found = reldep.compare(*data.values(), measure=measure, alternative="two-sided")
    assert found.estimate == pytest.approx(D, rel=1e-9)
    assert found.statistic == pytest.approx(D / np.sqrt(V0), rel=1e-9)
    assert found.pvalue == pytest.approx(2 * stats.t.sf(abs(D) / np.sqrt(V0), df), rel=1e-8)
    interval = page.interval(D, V0, VD, df)
    assert tuple(found.confidence_interval()) == pytest.approx(interval, rel=1e-8)


@pytest.mark.parametrize("measure", ["cka", "hsic", "dcor"])
@pytest.mark.parametrize("pair", [("x", "y"), ("y", "z")])
def test_the_interval_of_one_dependence_follows_from_the_page(pair, measure):
    data = example(60, 2)
    found = reldep.dependence(data[pair[0]], data[pair[1]], measure=measure)
    expected = Page(data, measure).single(pair)
    assert tuple(found.confidence_interval()) == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_the_default_kernel_is_the_one_of_the_page():
    data = example(40, 1)
    kernels = {name: Laplace(distances(x).sum() / (40 * 39)) for name, x in data.items()}
    fixed = reldep.compare(*data.values(), kernel=tuple(kernels.values()))
    assert fixed.estimate == pytest.approx(reldep.compare(*data.values()).estimate, rel=1e-12)
